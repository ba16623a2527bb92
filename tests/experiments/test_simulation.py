"""The simulation: its tasks are the paper's, and run."""

from wdrsvm.experiments import simulation


def test_the_full_simulation_is_the_papers():
    tasks = simulation.tasks("full", None)
    fits = sum(task["n_radii"] * task["n_costs"] for task in tasks)
    assert fits == 800_000
    assert len({task["repetition"] for task in tasks}) == 50


def test_a_grid_of_the_simulation():
    task = simulation.tasks("quick", 1)[0] | {"n_radii": 2, "n_costs": 2}
    records = simulation.run(task)
    assert [record["radius"] for record in records] == [1e-6, 1e-6, 10.0, 10.0]
    assert records == simulation.run(task)
    assert records[0]["accuracy"] > 0.5
    assert records[-1]["accuracy"] == 0.25

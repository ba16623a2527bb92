"""A real browser, where there is one."""

import shutil

import pytest


@pytest.fixture(scope="package")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not (chromium and shutil.which("chromedriver")):
        pytest.skip("no chromium and chromedriver: make browser installs them on Debian")
    options = webdriver.ChromeOptions()
    # The sandbox needs rights that containers lack; the pages are our own.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    # A judge of a long page takes its time where others are at work too.
    driver.set_script_timeout(120)
    yield driver
    driver.quit()


@pytest.fixture(scope="package")
def iris_page(tmp_path_factory):
    """The page of a model that was found by a search."""
    pytest.importorskip("matplotlib")
    from sklearn.datasets import load_iris
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from wdrsvm import RobustLinearSVCCV
    from wdrsvm.report import model_page

    X, y = load_iris(return_X_y=True, as_frame=True)
    search = RobustLinearSVCCV([0.02, 0.1], [2.0], cv=2)
    model = make_pipeline(StandardScaler(), search).fit(X, y)
    return model_page(model, X, y).write(tmp_path_factory.mktemp("model") / "iris.html")


@pytest.fixture(scope="package")
def explored(tmp_path_factory):
    """A page with sliders, and the rows on it."""
    from sklearn.datasets import load_wine

    from wdrsvm.report import explore_page

    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X[["flavanoids", "hue"]], "class " + y.astype(str)
    page = explore_page(X, y, radii=5, label_costs=[0.5, 2.0, float("inf")])
    return page.write(tmp_path_factory.mktemp("explore") / "wine.html"), X, y

"""A property is computed once, and no thread waits for another."""

import threading

from wdrsvm.cached import cached_property


class Slow:
    """Its answer waits until another object has answered."""

    def __init__(self, before=None):
        self.before, self.n_computed = before, 0

    @cached_property
    def answer(self):
        """What it is."""
        self.n_computed += 1
        if self.before is not None:
            thread = threading.Thread(target=lambda: self.before.answer, daemon=True)
            thread.start()
            thread.join(timeout=5)
            assert not thread.is_alive()
        return object()


def test_it_is_computed_once():
    slow = Slow()
    assert slow.answer is slow.answer
    assert slow.n_computed == 1


def test_another_object_need_not_wait():
    assert Slow(before=Slow()).answer is not None


def test_the_class_shows_the_property_itself():
    assert Slow.answer.__doc__ == "What it is."

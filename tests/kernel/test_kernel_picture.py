"""The picture of a tile shows what the recorded launch did."""

from __future__ import annotations

from xml.etree import ElementTree

from tools.kernel_picture import record, svg, tile

from .harness import Npu


def test_picture_shows_every_tap_once_and_both_buffers_in_turn(npu: Npu) -> None:
    drawn = tile(record(npu))
    loads = [bar for bar in drawn.bars if bar.row < 2 and not bar.next_tile]
    assert [bar.label for bar in loads] == [f"tap {k}" for k in range(9)]
    assert [bar.kind for bar in loads] == list("ABABABABA")
    additions = [bar for bar in drawn.bars if bar.row == 2 and bar.kind in "AB"]
    for load, addition in zip(loads, additions, strict=False):
        assert load.end <= addition.begin
        assert load.kind == addition.kind
    (store,) = (bar for bar in drawn.bars if bar.kind == "store")
    assert all(bar.end <= store.begin for bar in drawn.bars if bar.kind == "round")
    assert any(bar.begin < store.begin for bar in drawn.bars if bar.next_tile)
    ElementTree.fromstring(svg(drawn, "title"))

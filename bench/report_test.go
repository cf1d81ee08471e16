package main

import (
	"testing"
	"time"
)

func TestBarValueAndVerdict(t *testing.T) {
	r := newReport(config{runs: 3}, disk{})
	for i, value := range []float64{80, 10, 90} {
		r.add("c", "rota", "m", value, "u")
		r.add("c", "raw", "m", []float64{100, 20, 100}[i], "u")
	}
	for _, test := range []struct {
		bar     bar
		value   float64
		verdict string
		missed  bool
	}{
		{bar{caseName: "c", subject: "rota", against: "raw", least: 0.7}, 0.8, "ok", false},
		{bar{caseName: "c", subject: "rota", against: "raw", least: 0.85}, 0.8, "MISSED", true},
		{bar{caseName: "c", subject: "rota", against: "raw", least: 0.85, goal: true}, 0.8, "missed (aim)", false},
		{bar{caseName: "c", subject: "raw", against: "rota", most: 1.5}, 1.25, "ok", false},
		{bar{caseName: "c", subject: "rota", most: 70}, 80, "MISSED", true},
		{bar{caseName: "c", subject: "rota", against: "raw"}, 0.8, "", false},
	} {
		value, known := test.bar.value(r)
		if !known || value != test.value {
			t.Errorf("%+v: value %v", test.bar, value)
		}
		if verdict := test.bar.verdict(value); verdict != test.verdict {
			t.Errorf("%+v: %q", test.bar, verdict)
		}
		r.bars = []bar{test.bar}
		if r.missed() != test.missed {
			t.Errorf("%+v: missed is %v", test.bar, r.missed())
		}
	}
	if r.bars = []bar{{caseName: "c", subject: "missing", least: 1}}; !r.missed() {
		t.Error("a bar that was not measured counts as met")
	}
}

func TestMedian(t *testing.T) {
	for want, values := range map[float64][]float64{2: {3, 1, 2}, 2.5: {4, 1, 2, 3}, 0: nil} {
		if got := median(values); got != want {
			t.Errorf("median of %v is %v", values, got)
		}
	}
}

func TestNoiseOfTwoReadings(t *testing.T) {
	before := processors{all: 1000, busy: 500, steal: 10, own: time.Second}
	after := processors{all: 1400, busy: 800, steal: 50, own: 3 * time.Second}
	n := after.since(before)
	if n.steal != 10 || n.other != 25 {
		t.Errorf("steal %v, other %v", n.steal, n.other)
	}
	if _, err := readProcessors(); err != nil {
		t.Error(err)
	}
}

package rota

import (
	"strings"
	"testing"
)

func TestValidTrace(t *testing.T) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, text := range []string{good, strings.TrimSuffix(good, "01") + "00", strings.TrimSuffix(good, "01") + "ff"} {
		if !ValidTrace(text) {
			t.Errorf("%s: %s", text, traceProblem(text))
		}
	}
	for text, reason := range map[string]string{
		"":             "has 0 bytes instead of 55",
		good + "-more": "has 60 bytes instead of 55",
		good[1:]:       "has 54 bytes",
		strings.Replace(good, "4bf92f", "4BF92F", 1): "has a trace id that is not lower-case hexadecimal",
		strings.Replace(good, "00f067", "00f06g", 1): "has a span id that is not lower-case hexadecimal",
		"01" + good[2:]: "has the version 01; only 00 is supported",
		"ff" + good[2:]: "has the version ff",
		"0x" + good[2:]: "has a version that is not",
		strings.Replace(good, "4bf92f3577b34da6a3ce929d0e0e4736", strings.Repeat("0", 32), 1): "has a trace id of zeros",
		strings.Replace(good, "00f067aa0ba902b7", strings.Repeat("0", 16), 1):                 "has a span id of zeros",
		strings.Replace(good, "36-00", "36+00", 1):                                            "has no dash after its trace id",
		strings.TrimSuffix(good, "01") + "0z":                                                 "has a flag that is not",
	} {
		if ValidTrace(text) {
			t.Errorf("%q is taken for a traceparent", text)
		}
		if flaw := traceProblem(text); !strings.Contains(flaw, reason) {
			t.Errorf("%q %s; want %q", text, flaw, reason)
		}
	}
	if err := checkTrace("trace", ""); err != nil {
		t.Errorf("a job without a trace: %v", err)
	}
	if err := checkTrace("trace", "x"); err == nil || err.Field != "trace" || !strings.Contains(err.Hint, "traceparent") {
		t.Errorf("a job with a bad one: %v", err)
	}
}

func FuzzValidTrace(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Add("00-00000000000000000000000000000000-0000000000000000-00")
	f.Fuzz(func(t *testing.T, text string) {
		if !ValidTrace(text) {
			return
		}
		parts := strings.Split(text, "-")
		if len(parts) != 4 || len(parts[1]) != 32 || len(parts[2]) != 16 || strings.ToLower(text) != text {
			t.Errorf("%q is taken for a traceparent", text)
		}
	})
}

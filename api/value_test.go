package api

import (
	"encoding/json"
	"testing"
	"time"
)

func TestDurationAcceptsDays(t *testing.T) {
	for text, want := range map[string]time.Duration{`"1d"`: 24 * time.Hour, `"1d12h"`: 36 * time.Hour, `"90s"`: 90 * time.Second} {
		var d Duration
		if err := json.Unmarshal([]byte(text), &d); err != nil || time.Duration(d) != want {
			t.Errorf("%s is read as %v, %v", text, time.Duration(d), err)
		}
	}
}

package cron

import (
	"encoding/binary"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// shift is a clock change of an invented zone: the offset that applies from so many minutes after 2026-06-15 00:00 UTC.
type shift struct{ after, offset int }

// TestInventedZonesAgreeWithTheOracle checks clock changes that no country has made: several changes in so short a time
// that a local minute occurs three times, or is first skipped and occurs later.
func TestInventedZonesAgreeWithTheOracle(t *testing.T) {
	for _, zone := range []struct {
		name   string
		shifts []shift
	}{
		{"back and half an hour later forward", []shift{{0, 60}, {60, 0}, {90, 60}}},
		{"back twice, half an hour apart", []shift{{0, 120}, {60, 60}, {90, 0}}},
		{"back, forward, back: a minute occurs three times", []shift{{0, 60}, {60, 0}, {100, 60}, {130, 0}}},
		{"forward and soon back", []shift{{0, 0}, {60, 60}, {80, 0}}},
		{"forward over an hour, then back into it", []shift{{0, 0}, {60, 120}, {70, 30}}},
		{"a day skipped, then back into it", []shift{{0, -720}, {60, 720}, {600, -720}}},
		{"a day repeated", []shift{{0, 720}, {60, -720}}},
	} {
		t.Run(zone.name, func(t *testing.T) {
			start := instant(t, "2026-06-15")
			w := readWallClock(inventZone(t, zone.name, start, zone.shifts), start.Add(-24*time.Hour), start.Add(48*time.Hour))
			checkCommonExpressions(t, w)
			rapid.Check(t, func(t *rapid.T) { checkAgainstOracle(t, drawOracle(t, w), w) })
		})
	}
}

// inventZone writes a zone in the format of the zone database (TZif, version 1).
func inventZone(t *testing.T, name string, start time.Time, shifts []shift) *time.Location {
	t.Helper()
	data := append([]byte("TZif"), make([]byte, 16)...)
	for _, count := range []int{0, 0, 0, len(shifts), len(shifts), len("INV\x00")} {
		data = binary.BigEndian.AppendUint32(data, uint32(count))
	}
	for i, s := range shifts {
		at := start.Unix() + int64(s.after)*60
		if i == 0 {
			at = start.AddDate(-10, 0, 0).Unix()
		}
		data = binary.BigEndian.AppendUint32(data, uint32(at))
	}
	for i := range shifts {
		data = append(data, byte(i))
	}
	for _, s := range shifts {
		data = binary.BigEndian.AppendUint32(data, uint32(int32(s.offset*60)))
		data = append(data, 0, 0)
	}
	loc, err := time.LoadLocationFromTZData(name, append(data, "INV\x00"...))
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

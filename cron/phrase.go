package cron

import (
	"strings"
	"time"
)

// clocks are the zones that are named after a clock and not a place, as a sentence spells them.
var clocks = map[string]string{
	"UTC": "UTC", "UCT": "UTC", "Zulu": "UTC", "Universal": "UTC",
	"GMT": "GMT", "GMT0": "GMT", "GMT+0": "GMT", "GMT-0": "GMT", "Greenwich": "GMT",
	"CET": "CET", "EET": "EET", "MET": "MET", "WET": "WET", "EST": "EST", "HST": "HST", "MST": "MST",
	"CST6CDT": "CST6CDT", "EST5EDT": "EST5EDT", "MST7MDT": "MST7MDT", "PST8PDT": "PST8PDT",
}

// areas are the parts of the world under which the database files its places.
var areas = []string{
	"Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
}

// zonePhrase is how a sentence names a zone: a clock by its name, a place by the place where that alone is clear, else
// in full.
func zonePhrase(loc *time.Location) string {
	name := loc.String()
	bare := strings.TrimPrefix(name, "Etc/")
	if clock, ok := clocks[bare]; ok {
		return clock
	}
	if hours, ok := strings.CutPrefix(bare, "GMT"); ok && bare != name {
		return "UTC" + turnSign(hours)
	}
	area, _, filed := strings.Cut(name, "/")
	for _, known := range areas {
		if filed && area == known {
			name = name[strings.LastIndexByte(name, '/')+1:]
			break
		}
	}
	return strings.ReplaceAll(name, "_", " ") + " time"
}

// turnSign undoes the signs of POSIX, where Etc/GMT-5 is five hours ahead.
func turnSign(hours string) string {
	if rest, ok := strings.CutPrefix(hours, "-"); ok {
		return "+" + rest
	}
	return "-" + strings.TrimPrefix(hours, "+")
}

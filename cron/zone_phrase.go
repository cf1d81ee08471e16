package cron

import (
	"strings"
	"time"
)

// clockNames maps the zones that are named after a clock and not a place to their names in a description.
var clockNames = map[string]string{
	"UTC": "UTC", "UCT": "UTC", "Zulu": "UTC", "Universal": "UTC",
	"GMT": "GMT", "GMT0": "GMT", "GMT+0": "GMT", "GMT-0": "GMT", "Greenwich": "GMT",
	"CET": "CET", "EET": "EET", "MET": "MET", "WET": "WET", "EST": "EST", "HST": "HST", "MST": "MST",
	"CST6CDT": "CST6CDT", "EST5EDT": "EST5EDT", "MST7MDT": "MST7MDT", "PST8PDT": "PST8PDT",
}

// areas are the first parts of zone names that are names of places.
var areas = []string{
	"Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
}

// zonePhrase returns the name of a zone for a description: the name of a clock, the place alone if its area is known, else
// the full name.
func zonePhrase(loc *time.Location) string {
	name := loc.String()
	bare := strings.TrimPrefix(name, "Etc/")
	if clock, ok := clockNames[bare]; ok {
		return clock
	}
	if hours, ok := strings.CutPrefix(bare, "GMT"); ok && bare != name {
		return "UTC" + invertSign(hours)
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

// invertSign converts the signs of POSIX, where Etc/GMT-5 is five hours ahead of UTC.
func invertSign(hours string) string {
	if rest, ok := strings.CutPrefix(hours, "-"); ok {
		return "+" + rest
	}
	return "-" + strings.TrimPrefix(hours, "+")
}

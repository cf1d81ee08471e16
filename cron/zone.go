package cron

import (
	"strings"
	"sync"
	"time"
)

// zoneNameMax bounds a zone's name in bytes; the longest in the database has 32.
const zoneNameMax = 64

// zones keeps what LoadZone has read, so that ten thousand schedules in one zone share one table. Only names that
// exist enter it, so it cannot outgrow the zone database.
var zones sync.Map // string → *time.Location

// LoadZone returns the zone with an IANA name; the empty name is UTC. Local is refused, because a schedule must mean
// the same on every machine that reads it.
func LoadZone(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), nil
	}
	if reason := refuseZone(name); reason != "" {
		return nil, &Error{Field: "zone", Value: name, Reason: reason, Remedy: "name the zone, such as Europe/Berlin"}
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, &Error{Field: "zone", Value: name, Reason: "is not a known time zone", Remedy: nearZone(name)}
	}
	kept, _ := zones.LoadOrStore(name, loc)
	return kept.(*time.Location), nil
}

// refuseZone names the files of a zone directory that are not zones of the world, and what cannot be a name at all.
func refuseZone(name string) string {
	area, _, _ := strings.Cut(name, "/")
	switch {
	case strings.EqualFold(name, "Local"), name == "localtime":
		return "depends on the machine"
	case area == "posix", area == "right", name == "posixrules", name == "Factory":
		return "is not the name of a place"
	case len(name) > zoneNameMax, strings.Trim(name, zoneLetters) != "":
		return "is not a zone name"
	}
	return ""
}

const zoneLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-_/ :"

// areas are the parts of the world under which the database files its places.
var areas = []string{
	"Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
}

// abbreviations are what people write for zones that the database does not know by that name.
var abbreviations = map[string]string{
	"PST": "America/Los_Angeles", "PDT": "America/Los_Angeles", "PT": "America/Los_Angeles", "MDT": "America/Denver",
	"CDT": "America/Chicago", "EDT": "America/New_York", "ET": "America/New_York", "BST": "Europe/London",
	"CEST": "Europe/Berlin", "EEST": "Europe/Helsinki", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo",
	"AEST": "Australia/Sydney", "AEDT": "Australia/Sydney", "Z": "UTC",
}

// nearZone guesses what was meant: a known abbreviation, the same name in the right case, or a city without its area.
func nearZone(name string) string {
	guesses := []string{abbreviations[strings.ToUpper(name)], strings.ToUpper(name), inTitleCase(name)}
	for _, area := range areas {
		guesses = append(guesses, area+"/"+inTitleCase(name))
	}
	for _, guess := range guesses {
		if _, err := time.LoadLocation(guess); err == nil && guess != "" {
			return "did you mean " + guess + "?"
		}
	}
	return "use an IANA name, such as Europe/Berlin or America/New_York"
}

// inTitleCase writes "america/new york" as the database does.
func inTitleCase(name string) string {
	letters := []byte(strings.ToLower(strings.ReplaceAll(name, " ", "_")))
	for i := range letters {
		if (i == 0 || letters[i-1] == '/' || letters[i-1] == '_') && 'a' <= letters[i] && letters[i] <= 'z' {
			letters[i] -= 'a' - 'A'
		}
	}
	return string(letters)
}

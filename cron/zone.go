package cron

import (
	_ "embed"
	"strings"
	"sync"
	"time"
)

// zoneNameMax bounds a zone's name in bytes; the longest in the database has 32.
const zoneNameMax = 64

// zones keeps what LoadZone has read, so that ten thousand schedules in one zone share one table. Only names that
// exist enter it, each in one spelling, so it cannot outgrow the zone database.
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
	if meant := nearZone(name); meant != "" {
		return nil, &Error{Field: "zone", Value: name, Reason: "is not a known time zone", Remedy: "did you mean " + meant + "?"}
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, &Error{
			Field: "zone", Value: name, Reason: "is not a known time zone",
			Remedy: "use an IANA name, such as Europe/Berlin or America/New_York",
		}
	}
	kept, _ := zones.LoadOrStore(name, loc)
	return kept.(*time.Location), nil
}

// refuseZone names the files of a zone directory that are not zones of the world, and what cannot be a name at all. A
// name has one spelling: a file system would also take Europe//Berlin, and another would not.
func refuseZone(name string) string {
	area, _, _ := strings.Cut(name, "/")
	switch {
	case strings.EqualFold(name, "Local"), name == "localtime":
		return "depends on the machine"
	case area == "posix", area == "right", name == "posixrules", name == "Factory":
		return "is not the name of a place"
	case len(name) > zoneNameMax, strings.Trim(name, zoneLetters) != "", strings.Contains("/"+name+"/", "//"):
		return "is not a zone name"
	}
	return ""
}

const zoneLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-_/ :"

// zoneList names the zones of the database that Go programs carry, a line each and sorted.
//
//go:embed zones.txt
var zoneList string

// ZoneNames returns the names of the zones of the world, sorted. A system may know newer ones; they are loaded as well.
func ZoneNames() []string { return strings.Fields(zoneList) }

// abbreviations are what people write for zones that the database does not know by that name.
var abbreviations = map[string]string{
	"PST": "America/Los_Angeles", "PDT": "America/Los_Angeles", "PT": "America/Los_Angeles", "MDT": "America/Denver",
	"CDT": "America/Chicago", "EDT": "America/New_York", "ET": "America/New_York", "BST": "Europe/London",
	"CEST": "Europe/Berlin", "EEST": "Europe/Helsinki", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo",
	"AEST": "Australia/Sydney", "AEDT": "Australia/Sydney", "Z": "UTC",
}

// nearZone guesses what was meant by a name that is not in the list: the same in another case or with spaces, a known
// abbreviation, or a city without its area. It is asked before the file system, because some do not tell the cases of
// letters apart. It is empty for a name that is right, or unlike any. Etc/GMT+2 is never a guess: it lies two hours
// behind, and who writes GMT+2 means ahead.
func nearZone(name string) string {
	bare := strings.ReplaceAll(strings.TrimSpace(name), " ", "_")
	city := ""
	for _, known := range ZoneNames() {
		switch {
		case known == name:
			return ""
		case strings.EqualFold(known, bare):
			return known
		case city == "" && !strings.HasPrefix(known, "Etc/") && strings.EqualFold(known[strings.LastIndexByte(known, '/')+1:], bare):
			city = known
		}
	}
	if meant, ok := abbreviations[strings.ToUpper(bare)]; ok {
		return meant
	}
	return city
}

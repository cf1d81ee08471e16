package cron

import (
	_ "embed"
	"strings"
	"sync"
	"time"
)

// zoneNameMax limits the length of a zone name in bytes; the longest in the database has 32.
const zoneNameMax = 64

// zones caches the results of LoadZone, so that all schedules in one zone share one Location. It holds only names that
// exist, each in one spelling, so it cannot grow beyond the zone database.
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
	if meant := suggestZone(name); meant != "" {
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

// refuseZone returns the reason to refuse a name: a file of a zone directory that is not a zone, or an invalid name.
// Each zone has one spelling. Europe//Berlin is refused, because only some file systems would accept it.
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

// zoneList holds the sorted names of the zones in the database that is built into Go programs, one per line.
//
//go:embed zones.txt
var zoneList string

// ZoneNames returns the sorted names of the known zones. LoadZone also loads newer zones that only the system knows.
func ZoneNames() []string { return strings.Fields(zoneList) }

// abbreviations maps common abbreviations that the database does not have to zones.
var abbreviations = map[string]string{
	"PST": "America/Los_Angeles", "PDT": "America/Los_Angeles", "PT": "America/Los_Angeles", "MDT": "America/Denver",
	"CDT": "America/Chicago", "EDT": "America/New_York", "ET": "America/New_York", "BST": "Europe/London",
	"CEST": "Europe/Berlin", "EEST": "Europe/Helsinki", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo",
	"AEST": "Australia/Sydney", "AEDT": "Australia/Sydney", "Z": "UTC",
}

// suggestZone suggests a zone for a name that is not in the list: the same name in another case or with spaces, the zone
// of an abbreviation, or the zone of a city. LoadZone calls it before it reads the file system, because some file systems
// ignore case. It is empty for a known name, and if there is no suggestion. It never suggests Etc/GMT+2, which is two
// hours behind UTC, because users who write GMT+2 mean ahead.
func suggestZone(name string) string {
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

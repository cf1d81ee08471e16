package main

import (
	"os"
	"strings"

	"github.com/rotajobs/rota/cron"
)

// machineZone is the name of a time zone and its source.
type machineZone struct{ name, from string }

// crontabZone is the zone of --tz, or else the zone that cron on this machine uses. It must have a name, since a
// schedule has the same times on every machine.
func (a *app) crontabZone(given string) (machineZone, error) {
	if given != "" {
		_, err := cron.LoadZone(given)
		return machineZone{given, "from --tz"}, err
	}
	return localZone(a.getenv("TZ"), os.ReadFile, os.Readlink)
}

// localZone returns the zone of this machine, from TZ, /etc/timezone or /etc/localtime.
func localZone(tz string, readFile func(string) ([]byte, error), readlink func(string) (string, error)) (machineZone, error) {
	if name := strings.TrimPrefix(tz, ":"); name != "" {
		if _, err := cron.LoadZone(name); err != nil {
			return machineZone{}, usagef("name the zone, such as --tz Europe/Berlin", "TZ is %s, which is not the name of a time zone", shortened(tz))
		}
		return machineZone{name, "from TZ"}, nil
	}
	if text, err := readFile("/etc/timezone"); err == nil {
		if name := strings.TrimSpace(string(text)); isZone(name) {
			return machineZone{name, "from /etc/timezone"}, nil
		}
	}
	if link, err := readlink("/etc/localtime"); err == nil {
		if _, name, found := strings.Cut(link, "zoneinfo/"); found && isZone(name) {
			return machineZone{name, "from /etc/localtime"}, nil
		}
	}
	return machineZone{"UTC", "since this machine has no named zone; set another one with --tz"}, nil
}

func isZone(zone string) bool {
	_, err := cron.LoadZone(zone)
	return err == nil && zone != ""
}

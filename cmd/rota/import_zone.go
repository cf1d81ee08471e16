package main

import (
	"os"
	"strings"

	"github.com/rotajobs/rota/cron"
)

// machineZone is a zone by name, and how it was found.
type machineZone struct{ name, from string }

// crontabZone is the zone that was named, else the one whose clock cron on this machine goes by. It must have a name:
// a schedule means the same on every machine.
func (a *app) crontabZone(given string) (machineZone, error) {
	if given != "" {
		_, err := cron.LoadZone(given)
		return machineZone{given, "as --tz says"}, err
	}
	return localZone(a.getenv("TZ"), os.ReadFile, os.Readlink)
}

// localZone looks where systems keep the name of their zone.
func localZone(tz string, readFile func(string) ([]byte, error), readlink func(string) (string, error)) (machineZone, error) {
	if name := strings.TrimPrefix(tz, ":"); name != "" {
		if _, err := cron.LoadZone(name); err != nil {
			return machineZone{}, usagef("name the zone: --tz Europe/Berlin", "TZ is %s, which is not the name of a zone", shortened(tz))
		}
		return machineZone{name, "as TZ says"}, nil
	}
	if text, err := readFile("/etc/timezone"); err == nil {
		if name := strings.TrimSpace(string(text)); isZone(name) {
			return machineZone{name, "as /etc/timezone says"}, nil
		}
	}
	if link, err := readlink("/etc/localtime"); err == nil {
		if _, name, found := strings.Cut(link, "zoneinfo/"); found && isZone(name) {
			return machineZone{name, "as /etc/localtime says"}, nil
		}
	}
	return machineZone{"UTC", "since this machine names no zone; --tz names another"}, nil
}

func isZone(zone string) bool {
	_, err := cron.LoadZone(zone)
	return err == nil && zone != ""
}

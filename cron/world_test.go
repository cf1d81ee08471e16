package cron

import (
	"archive/zip"
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var world = flag.Bool("world", false, "check every clock change of every zone since 1975, which takes minutes")

// zoneNames lists the zone database that comes with Go.
func zoneNames(t testing.TB) []string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no toolchain to take the zone database from: %v", err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Skipf("no zone database beside the toolchain: %v", err)
	}
	defer archive.Close()
	var names []string
	for _, file := range archive.File {
		if !strings.HasSuffix(file.Name, "/") && refuseZone(file.Name) == "" {
			names = append(names, file.Name)
		}
	}
	return names
}

// TestEveryClockChangeOfTheWorld takes plain expressions to all of them. It begins in 1975, when the last zone had
// come to whole minutes, which is what the oracle walks in.
func TestEveryClockChangeOfTheWorld(t *testing.T) {
	if !*world {
		t.Skip("run with -world")
	}
	changes := 0
	for _, zone := range zoneNames(t) {
		loc, err := LoadZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		end := instant(t, "2045-01-01").Unix()
		for p := periodAt(loc, instant(t, "1975-01-01").Unix()); p.end < end; p = periodAt(loc, p.end) {
			changes++
			at := time.Unix(p.end, 0).Truncate(time.Minute)
			checkPlain(t, watch(loc, at.Add(-4*time.Hour), at.Add(28*time.Hour)))
		}
	}
	t.Logf("%d clock changes", changes)
}

func checkPlain(t *testing.T, w wall) {
	for _, minutes := range [][]int{{0}, {30}, {0, 15, 30, 45}} {
		for _, hours := range [][]int{{0}, {1}, {2}, {3}, {23}, values(0, 22), values(0, 23)} {
			checkAgainstOracle(t, oracle{minutes, hours, values(1, 31), values(1, 12), values(0, 6)}, w)
		}
	}
}

// TestZonePhrasesAreUnambiguous lets two zones share a phrase only if they share their clock.
func TestZonePhrasesAreUnambiguous(t *testing.T) {
	first := map[string]*time.Location{}
	for _, zone := range zoneNames(t) {
		loc, err := LoadZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		other, taken := first[zonePhrase(loc)]
		if !taken {
			first[zonePhrase(loc)] = loc
			continue
		}
		for at := instant(t, "2020-01-01").Unix(); at < instant(t, "2035-01-01").Unix(); at += 7 * secondsPerDay {
			if offsetAt(loc, at) != offsetAt(other, at) {
				t.Errorf("%s and %s are both %q", loc, other, zonePhrase(loc))
				break
			}
		}
	}
}

package cron

import (
	"archive/zip"
	"flag"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var world = flag.Bool("world", false, "check every clock change of every zone since 1975, which takes minutes")

// zoneData opens the zone database that comes with Go and is built into programs. Unlike the database of most systems it
// has no table of future transitions, only a rule.
func zoneData(t testing.TB) *zip.ReadCloser {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no Go toolchain, which has the zone database: %v", err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Skipf("no zone database in the Go toolchain: %v", err)
	}
	t.Cleanup(func() { archive.Close() })
	return archive
}

func zoneNames(t testing.TB) []string {
	t.Helper()
	var names []string
	for _, file := range zoneData(t).File {
		if !strings.HasSuffix(file.Name, "/") && refuseZone(file.Name) == "" {
			names = append(names, file.Name)
		}
	}
	return names
}

// TestZoneNamesEqualZoneDatabase checks that the list, which completion and suggestions use, has exactly the zones that
// can be loaded.
func TestZoneNamesEqualZoneDatabase(t *testing.T) {
	names := zoneNames(t)
	slices.Sort(names)
	if listed := ZoneNames(); !slices.Equal(listed, names) {
		t.Errorf("zones.txt has %d names, the database %d: write its sorted names there", len(listed), len(names))
	}
}

// TestBuiltInZoneDataAgreesWithTheOracle repeats the common expressions with the built-in zone data, and with zones whose
// last transition was in the middle of a year.
func TestBuiltInZoneDataAgreesWithTheOracle(t *testing.T) {
	archive := zoneData(t)
	changes := append([]clockChange{
		{"America/Ciudad_Juarez", "2022-11-30", "back at midnight, three weeks after the rest of the zone"},
		{"America/Metlakatla", "2019-01-20", "back at 02:00 in January"},
		{"America/Tijuana", "2010-01-01", "a new rule and no change"},
		{"America/Indiana/Winamac", "2007-03-11", "forward by two hours"},
	}, clockChanges...)
	for _, change := range changes {
		if change.zone == "UTC" {
			continue
		}
		day := instant(t, change.around)
		checkCommonExpressions(t, readWallClock(builtIn(t, archive, change.zone), day.Add(-36*time.Hour), day.Add(60*time.Hour)))
	}
}

func builtIn(t testing.TB, archive fs.FS, zone string) *time.Location {
	t.Helper()
	data, err := fs.ReadFile(archive, zone)
	if err != nil {
		t.Fatal(err)
	}
	loc, err := time.LoadLocationFromTZData(zone, data)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// TestEveryClockChangeOfEveryZone checks common expressions at every clock change, with the zone data of the system and
// the built-in data. It begins in 1975: since then all offsets are whole minutes, which the oracle requires.
func TestEveryClockChangeOfEveryZone(t *testing.T) {
	if !*world {
		t.Skip("run with -world")
	}
	archive, changes := zoneData(t), 0
	for _, zone := range zoneNames(t) {
		loc, err := LoadZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		changes += checkZone(t, loc) + checkZone(t, builtIn(t, archive, zone))
	}
	t.Logf("%d clock changes", changes)
}

func checkZone(t *testing.T, loc *time.Location) (changes int) {
	end := instant(t, "2045-01-01").Unix()
	for p := periodAt(loc, instant(t, "1975-01-01").Unix()); p.end < end; p = periodAt(loc, p.end) {
		changes++
		at := time.Unix(p.end, 0).Truncate(time.Minute)
		checkCommonExpressions(t, readWallClock(loc, at.Add(-4*time.Hour), at.Add(28*time.Hour)))
	}
	return changes
}

func checkCommonExpressions(t *testing.T, w wallClock) {
	for _, minutes := range [][]int{{0}, {30}, {0, 15, 30, 45}} {
		for _, hours := range [][]int{{0}, {1}, {2}, {3}, {23}, values(0, 22), values(0, 23)} {
			checkAgainstOracle(t, oracle{minutes, hours, values(1, 31), values(1, 12), values(0, 6)}, w)
		}
	}
}

// TestParseTimeRefusesLastGapOfEveryZone parses a local time that does not exist, in the last gap of each zone. After the
// last clock change there is no further period to search.
func TestParseTimeRefusesLastGapOfEveryZone(t *testing.T) {
	archive, gaps := zoneData(t), 0
	for _, zone := range zoneNames(t) {
		loc, err := LoadZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, loc := range []*time.Location{loc, builtIn(t, archive, zone)} {
			if text, ok := lastGap(loc); ok {
				gaps++
				if at, err := ParseTime(text, loc); err == nil || !strings.Contains(err.Error(), "does not exist") {
					t.Errorf("%s in %s is %v, %v", text, loc, at, err)
				}
			}
		}
	}
	if gaps < 500 {
		t.Errorf("only %d gaps found, want at least 500", gaps)
	}
}

// lastGap returns a local time in the last gap before 2040 that is at least a minute long.
func lastGap(loc *time.Location) (text string, found bool) {
	for p := periodAt(loc, dayNumber(1850, 1, 1)*secondsPerDay); p.end < dayNumber(2040, 1, 1)*secondsPerDay; {
		next := periodAt(loc, p.end)
		if width := next.offset - p.offset; width >= 60 {
			text, found = localText(p.end+p.offset+width/2, "2006-01-02 15:04:05"), true
		}
		p = next
	}
	return text, found
}

// TestZonePhrasesAreUnambiguous checks that two zones with the same phrase have the same local time.
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

package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

func testCycles(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a schedule that depends on itself is refused", cycleShort},
		{"a cycle over several schedules is refused, and the error names its path", cycleLong},
		{"two paths to one schedule are not a cycle", cycleDiamond},
		{"a change that would close a cycle is refused as a whole", cycleByChange},
		{"a removed dependency is not part of a cycle", cycleRemovedDependency},
		{"a dependency on a schedule that does not exist is refused", dependUnknown},
		{"a schedule has at most DependentsMax dependents", dependentsMost},
	})
}

// declareChain declares schedules that each depend on the previous one.
func (y *story) declareChain(names ...string) {
	y.Helper()
	for i, name := range names {
		var on []string
		if i > 0 {
			on = names[i-1 : i]
		}
		y.declare(name, rota.ScheduleSpec{DependsOn: on})
	}
}

func cycleShort(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	self := &rota.PutSchedule{Meta: y.ids.meta(), Name: "a", Spec: rota.ScheduleSpec{Template: "report", Cron: "@hourly", DependsOn: []string{"a"}}}
	y.wantField(rota.Invalid, "depends_on[0]", self)
	y.declareChain("a", "b")
	y.wantField(rota.Invalid, "depends_on", y.declareCommand("a", rota.ScheduleSpec{DependsOn: []string{"b"}}))
}

func cycleLong(y *story) {
	y.declareChain("a", "b", "c", "d")
	err := y.wantField(rota.Invalid, "depends_on", y.declareCommand("a", rota.ScheduleSpec{DependsOn: []string{"d"}}))
	for _, name := range []string{"a", "b", "c", "d"} {
		if !strings.Contains(err.Error(), name) {
			y.Errorf("the path in the error misses %s: %v", name, err)
		}
	}
}

func cycleDiamond(y *story) {
	y.declareChain("a", "b")
	y.declare("c", rota.ScheduleSpec{DependsOn: []string{"a"}})
	row := y.declare("d", rota.ScheduleSpec{DependsOn: []string{"c", "b", "a", "b"}})
	want(y, "depends on", strings.Join(row.Spec.DependsOn, " "), "a b c")
}

func cycleByChange(y *story) {
	y.declareChain("a", "b")
	y.declare("c", rota.ScheduleSpec{})
	y.wantField(rota.Invalid, "depends_on", y.declareCommand("a", rota.ScheduleSpec{DependsOn: []string{"c", "b"}, Description: "new"}))
	y.declare("a", rota.ScheduleSpec{DependsOn: []string{"c"}})
	y.wantField(rota.Invalid, "depends_on", y.declareCommand("c", rota.ScheduleSpec{DependsOn: []string{"b"}}))
}

func cycleRemovedDependency(y *story) {
	y.declareChain("a", "b", "c")
	y.declare("b", rota.ScheduleSpec{})
	y.declare("a", rota.ScheduleSpec{DependsOn: []string{"c"}})
	y.deleteSchedule("c")
	y.declare("b", rota.ScheduleSpec{DependsOn: []string{"a"}})
}

func dependUnknown(y *story) {
	y.declare("a", rota.ScheduleSpec{})
	y.wantField(rota.NotFound, "depends_on", y.declareCommand("b", rota.ScheduleSpec{DependsOn: []string{"a", "z"}}))
	y.wantNoSchedule("b")
	y.wantField(rota.NotFound, "depends_on", y.declareCommand("a", rota.ScheduleSpec{DependsOn: []string{"z"}}))
}

func dependentsMost(y *story) {
	y.declare("root", rota.ScheduleSpec{})
	var batch []rota.Command
	for i := range rota.DependentsMax {
		batch = append(batch, y.declareCommand(fmt.Sprintf("d%04d", i), rota.ScheduleSpec{DependsOn: []string{"root"}}))
	}
	for _, r := range y.send(batch...) {
		if r.Err != nil {
			y.Fatal(r.Err)
		}
	}
	y.wantField(rota.Conflict, "depends_on", y.declareCommand("late", rota.ScheduleSpec{DependsOn: []string{"root"}}))
	y.declare("d0007", rota.ScheduleSpec{DependsOn: []string{"root"}, Description: "one of them may change"})
	y.deleteSchedule("d0008")
	y.declare("late", rota.ScheduleSpec{DependsOn: []string{"root"}})
}

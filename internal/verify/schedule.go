package verify

import (
	"maps"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// declaredSchedule is what is kept of a schedule until References.
type declaredSchedule struct {
	template  string
	dependsOn []string
	enabled   bool
	spent     bool // was to fire once, and has fired
	planned   bool // a planned job of it has not ended
}

// ScheduleRow is a schedule with its columns.
type ScheduleRow struct {
	Schedule *rota.Schedule
	Template string   // column beside the spec
	Edges    []string // dependencies, sorted, as in the graph
	Spec     []byte   // as stored
}

// Schedule checks a schedule.
func (v *Verifier) Schedule(r ScheduleRow) {
	s, row := r.Schedule, rules.ScheduleSubject(r.Schedule.Name)
	knownWord(v, row, "state", s.State, rota.ScheduleEnabled, rota.ScheduleDisabled, rota.SchedulePaused)
	v.times(row, s.Anchor, s.NextFire, s.LastFire, s.MovedAt, s.ResumedAt, s.TriggeredAt, s.CreatedAt, s.UpdatedAt, s.Since)
	if s.Owner == "" {
		v.violation(rota.CheckOwnerMissing, []string{row}, "it has no owner")
	}
	switch {
	case s.State == rota.ScheduleDisabled && !s.NextFire.IsZero():
		v.violation(rota.CheckScheduleShape, []string{row}, "it is DISABLED, but fires next at %s", rules.Stamp(s.NextFire))
	case !s.NextFire.IsZero() && s.MovedAt.IsZero():
		v.violation(rota.CheckScheduleShape, []string{row}, "it fires next at %s, but has no moved_at", rules.Stamp(s.NextFire))
	case s.State != rota.ScheduleDisabled && s.Reason != "":
		v.violation(rota.CheckScheduleShape, []string{row}, "it is %s, but has a reason for being disabled: %s", s.State, s.Reason)
	}
	declared := &declaredSchedule{template: r.Template, dependsOn: r.Edges, enabled: s.State == rota.ScheduleEnabled}
	v.schedules[s.Name] = declared
	spec, read := readSpec[rota.ScheduleSpec](v, row, r.Spec)
	if !read {
		return
	}
	accepted := spec
	if accepted.At.IsZero() {
		accepted.OnCompletion = rota.CompletionPreserve // earlier versions accepted and ignored drop here
	}
	v.checkAccepted(row, (&rota.PutSchedule{Name: s.Name, Spec: accepted}).Validate(), rota.CheckBadSpec)
	v.column(row, "template", r.Template, spec.Template)
	if !slices.Equal(r.Edges, spec.DependsOn) {
		v.violation(rota.CheckScheduleEdges, []string{row}, "it depends on [%s], but its spec depends on [%s]",
			strings.Join(r.Edges, " "), strings.Join(spec.DependsOn, " "))
	}
	declared.dependsOn = spec.DependsOn
	declared.spent = declared.enabled && !spec.At.IsZero() && s.NextFire.IsZero() && s.LastFire.Equal(spec.At)
}

// OrphanEdge reports a dependency of a schedule that does not exist.
func (v *Verifier) OrphanEdge(schedule, on string) {
	v.violation(rota.CheckScheduleEdges, []string{"edge from " + schedule + " to " + on}, "there is no schedule %s", schedule)
}

// References checks references between rows. It is the last call.
func (v *Verifier) References() {
	for _, name := range slices.Sorted(maps.Keys(v.createdFrom)) {
		if _, there := v.templates[name]; !there {
			v.violation(rota.CheckTemplateMissing, []string{rules.TemplateSubject(name), rules.JobRef(v.createdFrom[name])}, "the job was created from the template, which does not exist")
		}
	}
	names := slices.Sorted(maps.Keys(v.schedules))
	for _, name := range names {
		v.scheduleRefers(name, v.schedules[name])
	}
	v.cycles(names)
	v.roleCycles()
}

func (v *Verifier) scheduleRefers(name string, s *declaredSchedule) {
	row := rules.ScheduleSubject(name)
	state, there := v.templates[s.template]
	switch {
	case !there:
		v.violation(rota.CheckTemplateMissing, []string{rules.TemplateSubject(s.template), row}, "the schedule runs the template, which does not exist")
	case s.enabled && state == rota.TemplateArchived && !v.intents[rules.Intent{Kind: rules.IntentTemplate, Name: s.template}]:
		v.violation(rota.CheckScheduleArchived, []string{row}, "it is ENABLED, but template %s is archived", s.template)
	}
	if s.spent && !s.planned {
		v.violation(rota.CheckScheduleSpent, []string{row}, "it has fired, and all its planned jobs have ended, but it is ENABLED")
	}
	for _, on := range s.dependsOn {
		if v.schedules[on] == nil {
			v.violation(rota.CheckDependencyMissing, []string{row}, "it depends on schedule %s, which does not exist", on)
		}
	}
}

// cycles reports schedules that depend on themselves.
func (v *Verifier) cycles(names []string) {
	left := map[string][]string{}
	for _, name := range names {
		left[name] = v.schedules[name].dependsOn
	}
	eachCycle(left, names, func(path []string) {
		v.violation(rota.CheckDependencyCycle, []string{rules.ScheduleSubject(path[0])}, "it depends on itself: %s", strings.Join(path, " → "))
	})
}

// eachCycle removes names that depend on no remaining name. What remains is in a
// cycle or depends on one. It empties left.
func eachCycle(left map[string][]string, names []string, report func(path []string)) {
	for {
		peel(left)
		start := slices.IndexFunc(names, func(name string) bool { _, is := left[name]; return is })
		if start < 0 {
			return
		}
		path := cycleFrom(left, names[start])
		report(path)
		for _, name := range path {
			delete(left, name)
		}
	}
}

// peel removes schedules that depend on no remaining schedule, until there are
// none.
func peel(left map[string][]string) {
	needs, users := map[string]int{}, map[string][]string{}
	var free []string
	for name, dependsOn := range left {
		for _, on := range dependsOn {
			if _, is := left[on]; is {
				needs[name]++
				users[on] = append(users[on], name)
			}
		}
		if needs[name] == 0 {
			free = append(free, name)
		}
	}
	for len(free) > 0 {
		name := free[len(free)-1]
		free = free[:len(free)-1]
		delete(left, name)
		for _, user := range users[name] {
			if needs[user]--; needs[user] == 0 {
				free = append(free, user)
			}
		}
	}
}

// cycleFrom follows dependencies until a name repeats. Each remaining schedule
// depends on another remaining one.
func cycleFrom(left map[string][]string, name string) (path []string) {
	for {
		if again := slices.Index(path, name); again >= 0 {
			return append(path[again:], name)
		}
		path = append(path, name)
		next := slices.IndexFunc(left[name], func(on string) bool { _, is := left[on]; return is })
		name = left[name][next]
	}
}

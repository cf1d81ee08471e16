package httpapi

import (
	"errors"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/cron"
)

func (a *server) scheduleActionRoutes() {
	route(a, operation{
		method: "POST", path: "/schedules/{name}/trigger", version: scheduleVersion, id: "trigger-schedule", scope: writeScope, tag: "Schedules", summary: "Run a schedule now",
		description: "Creates one execution per scope, in any state of the schedule. The fire times stay unchanged; overlap applies, dependencies do not.",
		example:     `{"params": {"full": true}}`, bodyOptional: true, status: 201, response: api.Triggered{}, errors: []int{404, 409},
	}, triggerSchedule)
	get(a, operation{
		method: "POST", path: "/schedules/{name}/pause", version: scheduleVersion, id: "pause-schedule", scope: writeScope, tag: "Schedules", summary: "Pause a schedule",
		description: "A paused schedule does not fire. It catches up when it is resumed.", response: api.Schedule{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return switchSchedule(c, &rota.SwitchSchedule{Meta: c.meta(), Name: c.name(), State: rota.SchedulePaused, Version: c.required})
	})
	get(a, operation{
		method: "POST", path: "/schedules/{name}/resume", version: scheduleVersion, id: "resume-schedule", scope: writeScope, tag: "Schedules", summary: "Resume a schedule",
		description: "A paused schedule catches up; a disabled schedule starts from now.", response: api.Schedule{}, errors: []int{404, 409},
	}, resumeSchedule)
	route(a, operation{
		method: "POST", path: "/schedules/{name}/backfill", version: scheduleVersion, id: "backfill-schedule", scope: writeScope, tag: "Schedules", summary: "Run a schedule for past times",
		description: "Times that already have an execution are skipped, and the fire times of the schedule stay unchanged. At most 1,000 times.",
		example:     `{"from": "2026-11-01T00:00:00Z", "to": "2026-11-14T00:00:00Z"}`, status: 201, response: api.Backfilled{}, errors: []int{404, 409},
	}, backfillSchedule)
	get(a, operation{
		method: "GET", path: "/schedules/{name}/upcoming", id: "upcoming-schedule", scope: readScope, tag: "Schedules", summary: "List the next fire times of a schedule",
		description: "In any state of the schedule, with notes about daylight saving changes.",
		query: []param{
			{name: "n", form: formInteger, doc: "Number of times, 1 to 1,000; default 10.", example: 10, low: 1, high: rota.PageMax},
			{name: "from", form: formTime, doc: "Lists times after this one; default now."},
		}, response: api.Upcoming{}, errors: []int{404},
	}, upcomingTimes)
}

func triggerSchedule(c *call, body *api.TriggerRequest) (reply, error) {
	command := &rota.Trigger{Meta: c.meta(), Schedule: c.name(), Params: body.Params.Raw(), Priority: body.Priority, Version: c.required}
	if err := command.Validate(); err != nil {
		return reply{}, err
	}
	if err := c.checkTrigger(command); err != nil {
		return reply{}, err
	}
	return then(func(result *rota.Triggered) (reply, error) {
		return created(api.Triggered{Items: api.NewJobs(result.Jobs)}, "")
	})(do[*rota.Triggered](c, command))
}

// checkTrigger checks the params of a triggered run against the schema of its type, unless the request
// is a replay.
func (c *call) checkTrigger(command *rota.Trigger) error {
	if c.replay {
		return nil
	}
	s, err := c.Store.Schedule(c.ctx, command.Schedule)
	if err != nil {
		return err
	}
	template, err := c.lookup().ActiveTemplate(s.Spec.Template)
	if err != nil {
		return err
	}
	t, err := c.lookup().Type(template.Spec.Type)
	if err != nil {
		return problem.Recode(err, rota.Invalid, rota.Conflict, "template")
	}
	return c.lookup().CheckParams(t, template.Spec.Params, s.Spec.Params, command.Params)
}

func switchSchedule(c *call, command *rota.SwitchSchedule) (reply, error) {
	put, err := do[*rota.SchedulePut](c, command)
	if err != nil {
		return reply{}, err
	}
	if put.Schedule == nil {
		return reply{}, scheduleNotFound(command.Name)
	}
	return ok(api.NewSchedule(put.Schedule))
}

// scheduleNow returns the schedule in the path and the time of the store.
func (c *call) scheduleNow() (*rota.Schedule, time.Time, error) {
	s, err := c.Store.Schedule(c.ctx, c.name())
	if err != nil {
		return nil, time.Time{}, err
	}
	now, err := c.now()
	return s, now, err
}

func resumeSchedule(c *call) (reply, error) {
	s, now, err := c.scheduleNow()
	if err != nil {
		return reply{}, err
	}
	command, err := rota.Enable(c.meta(), s, now)
	if err != nil {
		return reply{}, err
	}
	command.Version = c.required
	return switchSchedule(c, command)
}

func backfillSchedule(c *call, body *api.BackfillRequest) (reply, error) {
	for field, given := range map[string]api.Time{"from": body.From, "to": body.To} {
		if given.IsZero() {
			return reply{}, rota.Invalidf(field, "is missing; set both from and to")
		}
	}
	s, now, err := c.scheduleNow()
	if err != nil {
		return reply{}, err
	}
	command, err := rota.PlanBackfill(c.meta(), s, body.From.Time, body.To.Time, now)
	if err != nil {
		return reply{}, err
	}
	command.Version = c.required
	return then(func(result *rota.Backfilled) (reply, error) {
		return created(api.Backfilled{Items: api.NewJobs(result.Jobs), Known: result.Known}, "")
	})(do[*rota.Backfilled](c, command))
}

func upcomingTimes(c *call) (reply, error) {
	s, err := c.Store.Schedule(c.ctx, c.name())
	if err != nil {
		return reply{}, err
	}
	table, err := s.Timetable()
	if err != nil {
		return reply{}, err
	}
	zone, err := cron.LoadZone(api.ScheduleZone(s))
	if err != nil {
		zone = time.UTC
	}
	from, err := c.from(zone)
	if err != nil {
		return reply{}, err
	}
	v := api.Upcoming{Describe: table.Describe(), Items: []api.UpcomingAt{}}
	for _, fire := range cron.Upcoming(table, from, c.number("n", 10)) {
		v.Items = append(v.Items, api.UpcomingAt{At: exactTime(fire.At.In(zone)), UTC: api.Time{Time: fire.At}, Note: fire.Note})
	}
	return ok(v)
}

// from returns the time after which to list. A time without an offset is read in the time zone.
func (c *call) from(zone *time.Location) (time.Time, error) {
	if !c.query.Has("from") {
		return c.now()
	}
	from, err := cron.ParseTime(c.query.Get("from"), zone)
	var refusal *cron.Error
	if errors.As(err, &refusal) {
		return from, problem.Malformed("from", "%.64q is not a time; write it like 2026-11-15T07:00:00Z", c.query.Get("from"))
	}
	return from, err
}

// exactTime formats RFC 3339, whose offsets are whole minutes. For an offset with seconds it uses UTC.
func exactTime(at time.Time) string {
	if _, offset := at.Zone(); offset%60 != 0 {
		at = at.UTC()
	}
	return at.Format(time.RFC3339)
}

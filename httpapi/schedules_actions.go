package httpapi

import (
	"errors"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
)

// TriggerRequest says what one forced run has of its own.
type TriggerRequest struct {
	Params   Document `json:"params,omitempty" doc:"Laid over those of the schedule, key by key."`
	Priority *int     `json:"priority,omitempty" doc:"Of these jobs; left out: as the schedule says."`
}

// BackfillRequest says for which past times a schedule is run.
type BackfillRequest struct {
	From Time `json:"from" doc:"The first time that counts."`
	To   Time `json:"to" doc:"The last time that counts."`
}

func (a *api) scheduleActionRoutes() {
	route(a, operation{
		method: "POST", path: "/schedules/{name}/trigger", id: "trigger-schedule", tag: "Schedules", summary: "Run a schedule now",
		description: "For each of its scopes, whatever its state. Its calendar is not touched, its overlap is obeyed, its dependencies are not.",
		example:     `{"params": {"full": true}}`, bodyOptional: true, status: 201, response: Triggered{}, errors: []int{404, 409},
	}, triggerSchedule)
	get(a, operation{
		method: "POST", path: "/schedules/{name}/pause", id: "pause-schedule", tag: "Schedules", summary: "Pause a schedule",
		description: "It fires nothing; when it is resumed it catches up.", response: Schedule{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return switchSchedule(c, &rota.SwitchSchedule{Meta: c.meta(), Name: c.name(), State: rota.SchedulePaused})
	})
	get(a, operation{
		method: "POST", path: "/schedules/{name}/resume", id: "resume-schedule", tag: "Schedules", summary: "Let a schedule fire again",
		description: "One that was paused catches up; one that was disabled starts from now.", response: Schedule{}, errors: []int{404, 409},
	}, resumeSchedule)
	route(a, operation{
		method: "POST", path: "/schedules/{name}/backfill", id: "backfill-schedule", tag: "Schedules", summary: "Run a schedule for past times",
		description: "What was fired for them already is not fired again, and the calendar is not touched. At most 1,000 times.",
		example:     `{"from": "2026-11-01T00:00:00Z", "to": "2026-11-14T00:00:00Z"}`, status: 201, response: Backfilled{}, errors: []int{404, 409},
	}, backfillSchedule)
	get(a, operation{
		method: "GET", path: "/schedules/{name}/upcoming", id: "upcoming-schedule", tag: "Schedules", summary: "List the next times of a schedule",
		description: "Whatever its state, with what changes of the clocks do to them.",
		query: []param{
			{name: "n", form: formInteger, doc: "How many, 1 to 1,000; 10 if left out.", example: 10},
			{name: "from", form: formTime, doc: "After this time; now if left out."},
		}, response: Upcoming{}, errors: []int{404},
	}, upcomingTimes)
}

func triggerSchedule(c *call, body *TriggerRequest) (reply, error) {
	command := &rota.Trigger{Meta: c.meta(), Schedule: c.name(), Params: body.Params.raw(), Priority: body.Priority}
	if err := command.Validate(); err != nil {
		return reply{}, err
	}
	if err := c.checkTrigger(command); err != nil {
		return reply{}, err
	}
	made, err := do[*rota.Triggered](c, command)
	if err != nil {
		return reply{}, err
	}
	return created(Triggered{Items: NewJobs(made.Jobs)}, "")
}

// checkTrigger holds the params of a forced run to the schema of its type, once.
func (c *call) checkTrigger(command *rota.Trigger) error {
	if c.replay {
		return nil
	}
	s, err := c.Store.Schedule(c.ctx, command.Schedule)
	if err != nil {
		return err
	}
	template, err := c.findTemplate(s.Spec.Template)
	if err != nil {
		return err
	}
	t, err := c.findType(template.Spec.Type)
	if err != nil {
		return recode(err, rota.Invalid, rota.Conflict, "template")
	}
	return c.checkParams(t, template.Spec.Params, s.Spec.Params, command.Params)
}

func switchSchedule(c *call, command *rota.SwitchSchedule) (reply, error) {
	put, err := do[*rota.SchedulePut](c, command)
	if err != nil {
		return reply{}, err
	}
	if put.Schedule == nil {
		return reply{}, scheduleNotFound(command.Name)
	}
	return ok(NewSchedule(put.Schedule))
}

func resumeSchedule(c *call) (reply, error) {
	s, err := c.Store.Schedule(c.ctx, c.name())
	if err != nil {
		return reply{}, err
	}
	now, err := c.now()
	if err != nil {
		return reply{}, err
	}
	command, err := rota.Enable(c.meta(), s, now)
	if err != nil {
		return reply{}, err
	}
	return switchSchedule(c, command)
}

func backfillSchedule(c *call, body *BackfillRequest) (reply, error) {
	for field, given := range map[string]Time{"from": body.From, "to": body.To} {
		if given.IsZero() {
			return reply{}, rota.Invalidf(field, "is missing; a backfill goes from one time to another")
		}
	}
	s, err := c.Store.Schedule(c.ctx, c.name())
	if err != nil {
		return reply{}, err
	}
	now, err := c.now()
	if err != nil {
		return reply{}, err
	}
	command, err := rota.PlanBackfill(c.meta(), s, body.From.Time, body.To.Time, now)
	if err != nil {
		return reply{}, err
	}
	made, err := do[*rota.Backfilled](c, command)
	if err != nil {
		return reply{}, err
	}
	return created(Backfilled{Items: NewJobs(made.Jobs), Known: made.Known}, "")
}

func upcomingTimes(c *call) (reply, error) {
	n, err := c.intParam("n", 10, 1, rota.PageMax)
	if err != nil {
		return reply{}, err
	}
	s, err := c.Store.Schedule(c.ctx, c.name())
	if err != nil {
		return reply{}, err
	}
	table, err := s.Timetable()
	if err != nil {
		return reply{}, err
	}
	zone, err := cron.LoadZone(zoneOf(s))
	if err != nil {
		zone = time.UTC
	}
	from, err := c.from(zone)
	if err != nil {
		return reply{}, err
	}
	v := Upcoming{Describe: table.Describe(), Items: []UpcomingAt{}}
	for _, fire := range cron.Upcoming(table, from, n) {
		v.Items = append(v.Items, UpcomingAt{At: exactTime(fire.At.In(zone)), UTC: Time{fire.At}, Note: fire.Note})
	}
	return ok(v)
}

func zoneOf(s *rota.Schedule) string {
	if s.Spec.Zone == "" {
		return "UTC"
	}
	return s.Spec.Zone
}

// from is the time after which to list; a time without an offset is read in the
// zone.
func (c *call) from(zone *time.Location) (time.Time, error) {
	text, given := c.queryParam("from")
	if !given {
		return c.now()
	}
	from, err := cron.ParseTime(text, zone)
	var refusal *cron.Error
	if errors.As(err, &refusal) {
		return from, malformed("from", "is not a time; write one such as 2026-11-15T07:00:00Z")
	}
	return from, err
}

// exactTime writes RFC 3339, whose offsets are whole minutes. Where a clock was
// off by seconds only UTC names the instant.
func exactTime(at time.Time) string {
	if _, offset := at.Zone(); offset%60 != 0 {
		at = at.UTC()
	}
	return at.Format(time.RFC3339)
}

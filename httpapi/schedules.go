package httpapi

import (
	"net/http"
	"net/url"

	"github.com/rotajobs/rota"
)

// ScheduleRequest declares a schedule, or changes what it names of one. Exactly
// one of cron, at and every says when. Its defaults stand in words: a client
// made from the document would send others with every change.
type ScheduleRequest struct {
	Name           Opt[string]         `json:"name,omitzero" doc:"Letters, digits and . _ - : / @ #. It cannot be changed."`
	Template       Opt[string]         `json:"template,omitzero" doc:"What it runs."`
	Description    Opt[string]         `json:"description,omitzero" doc:"What it is, for people."`
	Cron           Opt[string]         `json:"cron,omitzero" doc:"Five fields, read in timezone."`
	At             Opt[Time]           `json:"at,omitzero" doc:"Once, then."`
	Every          Opt[Duration]       `json:"every,omitzero" doc:"At this interval, counted from starts_at, or from its creation."`
	Timezone       Opt[string]         `json:"timezone,omitzero" doc:"The IANA zone that cron is read in; UTC if a new one does not say."`
	Scopes         Opt[[]ScopeRequest] `json:"scopes,omitzero" doc:"A fire makes one execution for each."`
	StartsAt       Opt[Time]           `json:"starts_at,omitzero" doc:"It does not fire before."`
	EndsAt         Opt[Time]           `json:"ends_at,omitzero" doc:"The last time it may fire."`
	State          Opt[string]         `json:"state,omitzero" enum:"ENABLED,DISABLED,PAUSED" doc:"How it is to stand; a new one is ENABLED."`
	ParamOverrides Opt[Document]       `json:"param_overrides,omitzero" alias:"params" doc:"Laid over the template's default_params, key by key."`
	Priority       Opt[int]            `json:"priority,omitzero" doc:"Of its jobs; left out: as the template says."`
	PolicyRequest
	CatchUp      Opt[string]    `json:"catch_up,omitzero" enum:"none,last,all" doc:"What becomes of times that passed while nobody fired; last if a new one does not say."`
	Overlap      Opt[string]    `json:"overlap,omitzero" enum:"allow,skip,cancel" doc:"What a fire does while an earlier execution has not ended; allow if a new one does not say."`
	OnCompletion Opt[string]    `json:"on_completion,omitzero" enum:"preserve,drop" doc:"What becomes of an AT schedule when its executions ended; preserve if a new one does not say."`
	DependsOn    Opt[[]string]  `json:"depends_on,omitzero" doc:"Schedules whose executions it waits for."`
	Class        Opt[string]    `json:"class,omitzero" enum:"LOCAL_SAFE,LEADER_ONLY,QUORUM_REQUIRED" doc:"What its jobs need of the cluster while they run. On one node every class is met."`
	Partition    Opt[Partition] `json:"partition,omitzero" doc:"How it is spread over shards. On one node this changes nothing."`
	Webhooks     anyValue       `json:"webhooks,omitzero" doc:"Not supported yet."`
}

// ScopeRequest is what an execution is for: one id of a kind, or several.
type ScopeRequest struct {
	Kind string   `json:"kind" example:"user" doc:"What kind of thing."`
	ID   string   `json:"id,omitempty" example:"7" doc:"Which of them."`
	IDs  []string `json:"ids,omitempty" doc:"In place of id, for several of one kind."`
}

func (a *api) scheduleRoutes() {
	get(a, operation{
		method: "GET", path: "/schedules", id: "list-schedules", tag: "Schedules", summary: "List schedules", description: "By name.",
		query: pageParams(
			param{name: "state", form: formText, doc: "How they stand.", enum: scheduleStates},
			param{name: "template", form: formText, doc: "Of this template."},
		), response: List[Schedule]{},
	}, listSchedules)
	route(a, operation{
		method: "POST", path: "/schedules", id: "create-schedule", tag: "Schedules", summary: "Create a schedule",
		example: `{"name": "nightly", "template": "report", "cron": "0 3 * * *", "timezone": "Europe/Berlin", "catch_up": "last", "overlap": "skip"}`,
		status:  201, required: []string{"name", "template"}, response: Schedule{}, errors: []int{409},
	}, createSchedule)
	get(a, operation{
		method: "GET", path: "/schedules/{name}", id: "get-schedule", tag: "Schedules", summary: "Show a schedule",
		response: Schedule{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		s, err := c.Store.Schedule(c.ctx, c.name())
		if err != nil {
			return reply{}, err
		}
		return ok(NewSchedule(s))
	})
	route(a, operation{
		method: "PATCH", path: "/schedules/{name}", id: "change-schedule", tag: "Schedules", summary: "Change a schedule",
		description: "Only what is named changes; null goes back to the default. Naming another of cron, at and every replaces the one there was.",
		example:     `{"cron": "30 3 * * *", "priority": null}`, response: Schedule{}, errors: []int{404, 409},
	}, changeSchedule)
	get(a, operation{
		method: "DELETE", path: "/schedules/{name}", id: "delete-schedule", tag: "Schedules", summary: "Delete a schedule",
		description: "Its jobs stay.", status: 204, errors: []int{404, 409},
	}, deleteSchedule)
}

var scheduleStates = []string{string(rota.ScheduleEnabled), string(rota.ScheduleDisabled), string(rota.SchedulePaused)}

func listSchedules(c *call) (reply, error) {
	limit, after, err := c.namePage(cursorSchedules)
	if err != nil {
		return reply{}, err
	}
	state, err := c.enumParam("state", scheduleStates...)
	if err != nil {
		return reply{}, err
	}
	template, given := c.queryParam("template")
	if given && template == "" {
		return reply{}, malformed("template", "is empty; leave it out to list all")
	}
	q := rota.ScheduleQuery{After: after, State: rota.ScheduleState(state), Template: template}
	rows, more, err := readPage(c, limit, scheduleSize, func(last **rota.Schedule, n int) ([]*rota.Schedule, error) {
		q.Limit = n
		if last != nil {
			q.After = (*last).Name
		}
		return c.Store.Schedules(c.ctx, q)
	})
	if err != nil {
		return reply{}, asMalformed(err)
	}
	return ok(newList(rows, more, NewSchedule, func(s *rota.Schedule) Text { return cursorOf(cursorSchedules, []byte(s.Name)) }))
}

// scheduleSize is how long a schedule is: it may have many scopes.
func scheduleSize(s *rota.Schedule) int {
	size := len(s.Spec.Params)
	for _, scope := range s.Spec.Scopes {
		size += len(scope.Kind) + len(scope.ID)
	}
	return size
}

func createSchedule(c *call, body *ScheduleRequest) (reply, error) {
	name := ""
	body.Name.setValue(&name)
	command, err := body.declare(c, c.meta(), name, rota.ScheduleSpec{})
	if err != nil {
		return reply{}, err
	}
	command.Mode = rota.PutCreate
	put, err := do[*rota.SchedulePut](c, command)
	if err != nil {
		return reply{}, asBodyError(scheduleError(err))
	}
	if put.Schedule == nil {
		return reply{}, deletedSince(name)
	}
	return created(NewSchedule(put.Schedule), base+"/schedules/"+url.PathEscape(name))
}

// deletedSince answers a request sent again that made what is no longer there.
func deletedSince(name string) error {
	return &rota.Error{Code: rota.Conflict, Reason: "schedule " + name + " was made by this request and deleted since", Hint: "use another Idempotency-Key to make it anew"}
}

func changeSchedule(c *call, body *ScheduleRequest) (reply, error) {
	if body.Name.Set && (body.Name.Value == nil || *body.Name.Value != c.name()) {
		return reply{}, rota.Invalidf("name", "cannot be changed: what was fired goes by it")
	}
	meta := c.meta()
	return retryConflict(func() (reply, error) {
		s, err := c.Store.Schedule(c.ctx, c.name())
		if err != nil {
			return reply{}, err
		}
		if c.replay && c.scheduleChanged(meta, s) {
			return ok(NewSchedule(s))
		}
		command, err := body.declare(c, meta, s.Name, s.Spec)
		if err != nil {
			return reply{}, err
		}
		command.Mode, command.Version = rota.PutReplace, &s.Version
		put, err := do[*rota.SchedulePut](c, command)
		if err != nil {
			return reply{}, asBodyError(scheduleError(err))
		}
		if put.Schedule == nil {
			return reply{}, deletedSince(s.Name)
		}
		return ok(NewSchedule(put.Schedule))
	})
}

// deleteSchedule looks for the schedule first, so that a key is tied only by a
// request that has one to delete: then the same request is answered the same.
func deleteSchedule(c *call) (reply, error) {
	if _, err := c.Store.Schedule(c.ctx, c.name()); err != nil && !c.replay {
		return reply{}, err
	}
	gone, err := do[*rota.ScheduleDeleted](c, &rota.DeleteSchedule{Meta: c.meta(), Name: c.name()})
	if err != nil {
		return reply{}, err
	}
	if gone.Gone && !c.replay {
		return reply{}, scheduleNotFound(c.name())
	}
	return reply{status: http.StatusNoContent}, nil
}

func scheduleNotFound(name string) error {
	return &rota.Error{Code: rota.NotFound, Reason: "there is no schedule " + name, Hint: "see that the name is right"}
}

// declare makes the command of a request over what a schedule was.
func (r *ScheduleRequest) declare(c *call, meta rota.Meta, name string, spec rota.ScheduleSpec) (*rota.PutSchedule, error) {
	if err := refuseUnsupported("webhooks", r.Webhooks); err != nil {
		return nil, err
	}
	if err := r.apply(&spec); err != nil {
		return nil, err
	}
	now, err := c.now()
	if err != nil {
		return nil, err
	}
	command, err := rota.Declare(meta, name, spec, now)
	if err != nil {
		return nil, scheduleError(err)
	}
	if command.State, err = r.state(); err != nil {
		return nil, err
	}
	return command, c.checkSchedule(&command.Spec)
}

func scheduleError(err error) error { return renameFields(err, "params", "param_overrides") }

func (r *ScheduleRequest) state() (rota.ScheduleState, error) {
	if r.State.Value == nil {
		return "", nil
	}
	state := oneOf(*r.State.Value, scheduleStates)
	if state == "" {
		return "", rota.Invalidf("state", "is none of ENABLED, DISABLED and PAUSED")
	}
	return rota.ScheduleState(state), nil
}

// checkSchedule holds what a schedule will run to its definitions, once.
func (c *call) checkSchedule(spec *rota.ScheduleSpec) error {
	if c.replay {
		return nil
	}
	template, err := c.findTemplate(spec.Template)
	if err != nil {
		return err
	}
	t, err := c.findType(template.Spec.Type)
	if err != nil {
		return recode(err, rota.Invalid, rota.Invalid, "template")
	}
	return scheduleError(c.checkParams(t, template.Spec.Params, spec.Params))
}

// asMalformed answers a query that the store refuses as one that is malformed.
func asMalformed(err error) error {
	if e, isRotaError := err.(*rota.Error); isRotaError && e.Code == rota.Invalid {
		return malformed(e.Field, "%s", e.Reason)
	}
	return err
}

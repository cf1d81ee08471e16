package httpapi

import (
	"net/http"
	"net/url"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/definitions"
)

func (a *server) scheduleRoutes() {
	get(a, operation{
		method: "GET", path: "/schedules", id: "list-schedules", scope: readScope, tag: "Schedules", summary: "List schedules", description: "By name.",
		query: pageParams(
			param{name: "state", form: formText, doc: "State.", enum: api.ScheduleStates},
			param{name: "template", form: formName, doc: "Name of the template."},
		), response: api.List[api.Schedule]{},
	}, listSchedules)
	route(a, operation{
		method: "POST", path: "/schedules", id: "create-schedule", scope: writeScope, tag: "Schedules", summary: "Create a schedule",
		example: `{"name": "nightly", "template": "report", "cron": "0 3 * * *", "timezone": "Europe/Berlin", "catch_up": "last", "overlap": "skip"}`,
		status:  201, required: []string{"name"}, response: api.Schedule{}, errors: []int{409},
	}, createSchedule)
	get(a, operation{
		method: "GET", path: "/schedules/{name}", id: "get-schedule", scope: readScope, tag: "Schedules", summary: "Show a schedule",
		response: api.Schedule{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return show(api.NewSchedule)(c.Store.Schedule(c.ctx, c.name()))
	})
	route(a, operation{
		method: "PATCH", path: "/schedules/{name}", version: scheduleVersion, id: "change-schedule", scope: writeScope, tag: "Schedules", summary: "Change a schedule",
		description: "Changes only the fields in the request; null returns a field to its default. Setting one of cron, at and every replaces the previous one. " +
			"A change of owner has no other fields, and needs ADMIN.",
		example: `{"cron": "30 3 * * *", "priority": null}`, response: api.Schedule{}, errors: []int{404, 409},
	}, changeSchedule)
	get(a, operation{
		method: "DELETE", path: "/schedules/{name}", version: scheduleVersion, id: "delete-schedule", scope: writeScope, tag: "Schedules", summary: "Delete a schedule",
		description: "Its jobs are kept.", status: 204, errors: []int{404, 409},
		query: []param{{name: "with_template", form: formFlag, doc: "Also archive its template, if no other schedule uses it."}},
	}, deleteSchedule)
}

func listSchedules(c *call) (reply, error) {
	q := rota.ScheduleQuery{State: rota.ScheduleState(c.word("state")), Template: c.query.Get("template")}
	return rowList[*rota.Schedule, api.Schedule]{
		kind: cursorSchedules, show: api.NewSchedule, size: definitions.ScheduleSize, position: func(s *rota.Schedule) []byte { return []byte(s.Name) },
		read: func(after []byte, n int) ([]*rota.Schedule, error) {
			q.After, q.Limit = string(after), n
			rows, err := c.Store.Schedules(c.ctx, q)
			return rows, asMalformed(err)
		},
	}.page(c)
}

func createSchedule(c *call, body *api.ScheduleRequest) (reply, error) {
	name := ""
	body.Name.SetValue(&name)
	if err := refuseOwner(body.Owner, ownerOfNew); err != nil {
		return reply{}, err
	}
	switch {
	case body.Type.Value != nil:
		return createScheduleOfType(c, body, name)
	case body.Template.Value == nil:
		return reply{}, rota.Invalidf("template", "is missing; set template, or type to create one of the same name")
	}
	return then(func(s *rota.Schedule) (reply, error) {
		return created(api.NewSchedule(s), base+"/schedules/"+url.PathEscape(name))
	})(c.putSchedule(body, c.meta(), name, rota.ScheduleSpec{}, nil))
}

// putSchedule applies the request to a specification and sends the command. Without a version it creates the
// schedule.
func (c *call) putSchedule(r *api.ScheduleRequest, meta rota.Meta, name string, spec rota.ScheduleSpec, version *rota.ID) (*rota.Schedule, error) {
	command, err := c.declareSchedule(r, meta, name, spec)
	if err != nil {
		return nil, err
	}
	if command.Mode, command.Version = rota.PutReplace, version; version == nil {
		command.Mode = rota.PutCreate
	}
	put, err := do[*rota.SchedulePut](c, command)
	if err != nil {
		return nil, problem.InBody(scheduleError(err))
	}
	if put.Schedule == nil { // a replayed request
		return nil, problem.New(rota.Conflict, "", "use another Idempotency-Key to create it again",
			"schedule %s was created by this request and has been deleted since", name)
	}
	return put.Schedule, nil
}

func changeSchedule(c *call, body *api.ScheduleRequest) (reply, error) {
	if body.Name.Set && (body.Name.Value == nil || *body.Name.Value != c.name()) {
		return reply{}, rota.Invalidf("name", "cannot be changed: its executions refer to it")
	}
	if body.Type.Set {
		return reply{}, rota.Invalidf("type", "cannot be changed here: it belongs to the template")
	}
	if body.Owner.Set && body.OnlyOwner() {
		return show(func(set *rota.OwnerSet) api.Schedule { return api.NewSchedule(set.Schedule) })(c.setOwner(rota.ExpectSchedule, body.Owner.Value))
	}
	if err := refuseOwner(body.Owner, ownerOfChange); err != nil {
		return reply{}, err
	}
	meta := c.meta()
	return c.retryConflict(func() (reply, error) {
		s, err := c.Store.Schedule(c.ctx, c.name())
		if err != nil || c.replay && c.scheduleChanged(meta, s) {
			return show(api.NewSchedule)(s, err)
		}
		return show(api.NewSchedule)(c.putSchedule(body, meta, s.Name, s.Spec, c.versionOr(&s.Version)))
	})
}

// deleteSchedule reads the schedule first, so that only a request that deletes something binds its
// key. A repeated request then gets the same response.
func deleteSchedule(c *call) (reply, error) {
	if _, err := c.Store.Schedule(c.ctx, c.name()); err != nil && !c.replay {
		return reply{}, err
	}
	if c.flag("with_template") {
		return deleteWithTemplate(c)
	}
	gone, err := do[*rota.ScheduleDeleted](c, &rota.DeleteSchedule{Meta: c.meta(), Name: c.name(), Version: c.required})
	if err != nil {
		return reply{}, err
	}
	if gone.Gone && !c.replay {
		return reply{}, scheduleNotFound(c.name())
	}
	return reply{status: http.StatusNoContent}, nil
}

// deleteWithTemplate deletes a schedule and archives its template, both or neither.
func deleteWithTemplate(c *call) (reply, error) {
	s, err := c.Store.Schedule(c.ctx, c.name())
	if rota.CodeOf(err) == rota.NotFound && c.replay { // the first sending did both
		return reply{status: http.StatusNoContent}, nil
	}
	if err != nil {
		return reply{}, err
	}
	users, err := c.Store.Schedules(c.ctx, rota.ScheduleQuery{Template: s.Spec.Template, Limit: 2})
	if err != nil {
		return reply{}, err
	}
	for _, other := range users {
		if other.Name != s.Name {
			return reply{}, problem.New(rota.Conflict, "with_template", "omit with_template, or delete that schedule first",
				"template %s is used by schedule %s too", s.Spec.Template, other.Name)
		}
	}
	all := &rota.All{Meta: c.meta(), Members: []rota.Command{
		&rota.DeleteSchedule{Meta: c.meta(), Name: s.Name, Version: c.versionOr(&s.Version)}, &rota.Archive{Meta: c.meta(), Name: s.Spec.Template},
	}}
	if _, err := do[*rota.AllDone](c, all); err != nil {
		return reply{}, ofMember(err, 0)
	}
	return reply{status: http.StatusNoContent}, nil
}

func scheduleNotFound(name string) error {
	return &rota.Error{Code: rota.NotFound, Reason: "there is no schedule " + name, Hint: "check the name"}
}

// declareSchedule returns the command that applies the request to a schedule.
func (c *call) declareSchedule(r *api.ScheduleRequest, meta rota.Meta, name string, spec rota.ScheduleSpec) (*rota.PutSchedule, error) {
	if err := r.Apply(&spec); err != nil {
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
	if command.State, err = api.ParseScheduleState(r.State.Value); err != nil {
		return nil, err
	}
	return command, c.checkSchedule(&command.Spec)
}

func scheduleError(err error) error { return problem.Rename(err, "params", "param_overrides") }

// checkSchedule checks the template and params of a schedule, unless the request is a replay.
func (c *call) checkSchedule(spec *rota.ScheduleSpec) error {
	if c.replay {
		return nil
	}
	template, err := c.lookup().ActiveTemplate(spec.Template)
	if err != nil {
		return err
	}
	t, err := c.lookup().Type(template.Spec.Type)
	if err != nil {
		return problem.Recode(err, rota.Invalid, rota.Invalid, "template")
	}
	return scheduleError(c.lookup().CheckParams(t, template.Spec.Params, spec.Params))
}

// asMalformed turns a query that the store refuses into a 400.
func asMalformed(err error) error {
	if e, isRotaError := err.(*rota.Error); isRotaError && e.Code == rota.Invalid {
		return problem.Malformed(e.Field, "%s", e.Reason)
	}
	return err
}

package httpapi

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// createScheduleOfType creates a schedule and a template of the same name, both or neither. An existing template of that
// name gets the type and the params of the request, unless another schedule uses it.
func createScheduleOfType(c *call, body *api.ScheduleRequest, name string) (reply, error) {
	return c.retryConflict(func() (reply, error) {
		plan, err := c.planScheduleOfType(body, name)
		if err != nil {
			return reply{}, err
		}
		if err := c.bindKey(); err != nil { // before the ids of the commands are derived
			return reply{}, err
		}
		c.commandCount = 0
		all := &rota.All{Meta: c.meta()}
		for _, command := range plan {
			*command.Head() = c.meta()
			all.Members = append(all.Members, command)
		}
		done, err := do[*rota.AllDone](c, all)
		if err != nil {
			return reply{}, ofMember(err, len(plan)-1)
		}
		s := done.Replies[len(done.Replies)-1].(*rota.SchedulePut).Schedule
		if s == nil { // a replayed request
			return reply{}, problem.New(rota.Conflict, "", "use another Idempotency-Key to create it again",
				"schedule %s was created by this request and has been deleted since", name)
		}
		return created(api.NewSchedule(s), base+"/schedules/"+url.PathEscape(name))
	})
}

// planScheduleOfType returns the commands that create the template and the schedule, the schedule last. They have no ids.
func (c *call) planScheduleOfType(body *api.ScheduleRequest, name string) ([]rota.Command, error) {
	if body.Template.Value != nil {
		return nil, rota.Invalidf("template", "is %q, and type is %q; set only one of them, since type creates a template of the same name", *body.Template.Value, *body.Type.Value)
	}
	spec := rota.ScheduleSpec{Template: name}
	if err := body.Apply(&spec); err != nil {
		return nil, err
	}
	now, err := c.now()
	if err != nil {
		return nil, err
	}
	put, err := rota.Declare(rota.Meta{}, name, spec, now)
	if err != nil {
		return nil, scheduleError(err)
	}
	put.Mode = rota.PutCreate
	if put.State, err = api.ParseScheduleState(body.State.Value); err != nil {
		return nil, err
	}
	commands, template, err := c.planTemplateOf(body, name)
	if err != nil {
		return nil, templateError(err)
	}
	if !c.replay {
		t, err := c.lookup().Type(template.Type)
		if err != nil {
			return nil, err
		}
		if err := c.lookup().CheckParams(t, template.Params, spec.Params); err != nil {
			return nil, templateError(err)
		}
	}
	return append(commands, put), nil
}

// planTemplateOf returns the commands that create the template of a schedule, or change it and make it active.
func (c *call) planTemplateOf(body *api.ScheduleRequest, name string) ([]rota.Command, *rota.TemplateSpec, error) {
	put := &rota.PutTemplate{Name: name, Mode: rota.PutCreate, OnlySchedule: name}
	t, err := c.Store.Template(c.ctx, name)
	switch {
	case err == nil:
		put.Mode, put.Version, put.Spec = rota.PutReplace, &t.Version, t.Spec
	case rota.CodeOf(err) != rota.NotFound:
		return nil, nil, err
	default:
		put.OnlySchedule = ""
	}
	put.Spec.Params = nil
	body.Type.SetValue(&put.Spec.Type)
	if body.DefaultParams.Value != nil {
		put.Spec.Params = body.DefaultParams.Value.Raw()
	}
	commands := []rota.Command{put}
	if t != nil && t.State == rota.TemplateArchived {
		commands = append(commands, &rota.Unarchive{Name: name})
	}
	return commands, &put.Spec, put.Validate()
}

// ofMember turns an error of a member of an All into that of the request. A template that was created or changed meanwhile
// is a conflict of versions, so that the request is planned again.
func ofMember(err error, schedule int) error {
	var e *rota.Error
	if !errors.As(err, &e) || !strings.HasPrefix(e.Field, "members[") {
		return err
	}
	number, field, _ := strings.Cut(strings.TrimPrefix(e.Field, "members["), "]")
	own := *e
	own.Field = strings.TrimPrefix(field, ".")
	if i, _ := strconv.Atoi(number); i == schedule {
		return problem.InBody(scheduleError(&own))
	}
	switch own.Field {
	case "name":
		own.Field = "version"
	case "only_schedule":
		own.Field, own.Hint = "name", "use that template with template instead of type, or choose another name"
	}
	return templateError(&own)
}

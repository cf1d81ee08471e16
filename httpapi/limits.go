package httpapi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func (a *server) limitRoutes() {
	get(a, operation{
		method: "GET", path: "/limits", id: "get-limits", tag: "Limits", summary: "Show the limits", response: api.Throttle{},
	}, func(c *call) (reply, error) {
		t, err := c.Store.Throttle(c.ctx)
		if err != nil {
			return reply{}, err
		}
		return ok(api.NewThrottle(t))
	})
	route(a, operation{
		method: "PUT", path: "/limits", id: "put-limits", tag: "Limits", summary: "Set all limits",
		description: "Limits that are not named are removed. An undeclared type is refused unless it already has a limit. The change takes effect immediately; running jobs continue.",
		example:     `{"global": 100, "types": {"mail": {"concurrency": 5, "rate": "100/1m"}}, "keys": {"tenant-7": 2}}`, response: api.Throttle{}, errors: []int{409},
	}, putLimits)
}

func putLimits(c *call, body *api.ThrottleRequest) (reply, error) {
	spec, err := body.Spec()
	if err != nil {
		return reply{}, err
	}
	command := &rota.PutThrottle{Meta: c.meta(), Spec: spec}
	if body.Version.Set {
		var read api.ID
		body.Version.SetValue(&read)
		command.Version = &read.ID
	}
	if err := command.Validate(); err != nil {
		return reply{}, limitError(err, &spec)
	}
	if err := c.checkLimits(spec.Types); err != nil {
		return reply{}, err
	}
	put, err := do[*rota.ThrottlePut](c, command)
	if err != nil {
		return reply{}, limitError(err, &spec)
	}
	return ok(api.NewThrottle(put.Throttle))
}

// limitError replaces list positions in the fields of an error by the names of types and keys.
func limitError(err error, spec *rota.ThrottleSpec) error {
	for i, t := range spec.Types {
		at := fmt.Sprintf("types[%d]", i)
		name := "types." + api.FieldPath("", t.Type)
		err = renameFields(err, at+".rate", name+".rate", at+".type", "types", at, name)
	}
	for i, k := range spec.Keys {
		at := fmt.Sprintf("keys[%d]", i)
		name := "keys." + api.FieldPath("", k.Key)
		err = renameFields(err, at+".key", "keys", at+".concurrency", name, at, name)
	}
	return mergeRateField(err)
}

// mergeRateField moves the parts of a rate from the field of an error to its reason.
func mergeRateField(err error) error {
	var e *rota.Error
	if !errors.As(err, &e) {
		return err
	}
	cut := *e
	for _, part := range []string{".count", ".per"} {
		if at, found := strings.CutSuffix(e.Field, ".rate"+part); found {
			cut.Field = at + ".rate"
			cut.Reason = part[1:] + " " + e.Reason
			return &cut
		}
	}
	return err
}

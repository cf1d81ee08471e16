package httpapi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
)

// ThrottleRequest sets all limits.
type ThrottleRequest struct {
	Global int                         `json:"global,omitempty" doc:"Runs at the same time, of all types; 0 means no limit."`
	Types  map[string]TypeLimitRequest `json:"types,omitempty" doc:"Limits by type name."`
	Keys   map[string]int              `json:"keys,omitempty" doc:"Runs at the same time, by concurrency key."`

	Version Opt[ID] `json:"version,omitzero" doc:"Version that was read. The limits are set only if they have not changed since; null: only if they were never set."`
}

// TypeLimitRequest limits the jobs of one type.
type TypeLimitRequest struct {
	Concurrency int    `json:"concurrency,omitempty" doc:"Runs at the same time; 0 means no limit."`
	Rate        string `json:"rate,omitempty" doc:"Starts per period, such as 100/1m." example:"100/1m"`
}

func (a *api) limitRoutes() {
	get(a, operation{
		method: "GET", path: "/limits", id: "get-limits", tag: "Limits", summary: "Show the limits", response: Throttle{},
	}, func(c *call) (reply, error) {
		t, err := c.Store.Throttle(c.ctx)
		if err != nil {
			return reply{}, err
		}
		return ok(NewThrottle(t))
	})
	route(a, operation{
		method: "PUT", path: "/limits", id: "put-limits", tag: "Limits", summary: "Set all limits",
		description: "Limits that are not named are removed. An undeclared type is refused unless it already has a limit. The change takes effect immediately; running jobs continue.",
		example:     `{"global": 100, "types": {"mail": {"concurrency": 5, "rate": "100/1m"}}, "keys": {"tenant-7": 2}}`, response: Throttle{}, errors: []int{409},
	}, putLimits)
}

func putLimits(c *call, body *ThrottleRequest) (reply, error) {
	spec, err := body.spec()
	if err != nil {
		return reply{}, err
	}
	command := &rota.PutThrottle{Meta: c.meta(), Spec: spec}
	if body.Version.Set {
		var read ID
		body.Version.setValue(&read)
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
	return ok(NewThrottle(put.Throttle))
}

func (r *ThrottleRequest) spec() (rota.ThrottleSpec, error) {
	spec := rota.ThrottleSpec{Global: r.Global}
	for name, limit := range r.Types {
		rate, err := parseRate(limit.Rate)
		if err != nil {
			return spec, rota.Invalidf("types."+joinPath("", name)+".rate", "%s", err.Error())
		}
		spec.Types = append(spec.Types, rota.TypeLimit{Type: name, Concurrency: limit.Concurrency, Rate: rate})
	}
	for key, n := range r.Keys {
		spec.Keys = append(spec.Keys, rota.KeyLimit{Key: key, Concurrency: n})
	}
	return spec.Canonical(), nil
}

// parseRate parses a rate such as 100/1m. An empty text is no rate.
func parseRate(text string) (rate rota.Rate, err error) {
	if text == "" {
		return rate, nil
	}
	count, per, found := strings.Cut(text, "/")
	if rate.Count, err = strconv.Atoi(strings.TrimSpace(count)); !found || err != nil {
		return rate, errors.New("is not a rate; write the number of starts and the period, such as 100/1m")
	}
	if rate.Per, err = rota.ParseDuration(per); err != nil {
		return rate, errors.New("has no valid period after the /; write the number of starts and the period, such as 100/1m")
	}
	if rate == (rota.Rate{}) {
		return rate, errors.New("must not be zero; to stop a type, pause it")
	}
	return rate, nil
}

// limitError replaces list positions in the fields of an error by the names of types and keys.
func limitError(err error, spec *rota.ThrottleSpec) error {
	for i, t := range spec.Types {
		at := fmt.Sprintf("types[%d]", i)
		name := "types." + joinPath("", t.Type)
		err = renameFields(err, at+".rate", name+".rate", at+".type", "types", at, name)
	}
	for i, k := range spec.Keys {
		at := fmt.Sprintf("keys[%d]", i)
		name := "keys." + joinPath("", k.Key)
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

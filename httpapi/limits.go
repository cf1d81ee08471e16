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
	Global int                         `json:"global,omitempty" doc:"Runs at once, of all types; 0: no limit."`
	Types  map[string]TypeLimitRequest `json:"types,omitempty" doc:"By the name of a type."`
	Keys   map[string]int              `json:"keys,omitempty" doc:"Runs at once, by concurrency key."`

	Version Opt[ID] `json:"version,omitzero" doc:"The version that was read. They are then set only if nobody else has set them since; null: if nobody ever has."`
}

// TypeLimitRequest holds the jobs of one type back.
type TypeLimitRequest struct {
	Concurrency int    `json:"concurrency,omitempty" doc:"Runs at once; 0: no limit."`
	Rate        string `json:"rate,omitempty" doc:"Starts in any stretch of time, such as 100/1m." example:"100/1m"`
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
		description: "What is not named is not limited any more. A type that nobody declared is refused, unless it is limited already. It takes effect at once; jobs that run are left alone.",
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

// parseRate reads a rate such as 100/1m. Empty is none.
func parseRate(text string) (rate rota.Rate, err error) {
	if text == "" {
		return rate, nil
	}
	count, per, found := strings.Cut(text, "/")
	if rate.Count, err = strconv.Atoi(strings.TrimSpace(count)); !found || err != nil {
		return rate, errors.New("is not a rate; write how many starts in how long, such as 100/1m")
	}
	if rate.Per, err = rota.ParseDuration(per); err != nil {
		return rate, errors.New("has no length of time behind the /; write how many starts in how long, such as 100/1m")
	}
	if rate == (rota.Rate{}) {
		return rate, errors.New("is nothing; to hold a type back altogether, pause it")
	}
	return rate, nil
}

// limitError names limits by what they limit: places in a list say little.
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

// mergeRateField leaves what a rate consists of to its reason.
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

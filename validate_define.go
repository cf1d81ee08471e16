package rota

import (
	"fmt"

	"github.com/rotajobs/rota/cron"
)

// Validate requires a name and checks the specification.
func (c *PutType) Validate() error {
	err := first(
		checkName("name", c.Name, true),
		checkMode(c.Mode),
		checkText("description", c.Spec.Description, DescriptionMax),
		checkObject("schema", c.Spec.Schema, SchemaMax),
		c.Spec.Policy.validate(),
	)
	return asError(err)
}

// Validate requires a name.
func (c *SwitchType) Validate() error { return asError(checkName("name", c.Name, true)) }

// Validate requires a name and a type and checks the specification.
func (c *PutTemplate) Validate() error {
	s := &c.Spec
	return asError(first(
		checkName("name", c.Name, true),
		checkMode(c.Mode),
		checkName("only_schedule", c.OnlySchedule, false),
		checkName("type", s.Type, true),
		checkNotInternal("type", s.Type),
		checkText("description", s.Description, DescriptionMax),
		checkObject("params", s.Params, ParamsMax),
		checkIntPtr("priority", s.Priority, PriorityMin, PriorityMax),
		s.Policy.validate(),
		checkDuration("unique_for", s.UniqueFor, 0, DelayMax),
		checkText("concurrency_key", s.ConcurrencyKey, KeyMax),
		asType(checkWebhooks("webhooks", s.Webhooks, jobEvents)),
	))
}

// Validate requires a name.
func (c *Archive) Validate() error { return asError(checkName("name", c.Name, true)) }

// Validate requires a name.
func (c *Unarchive) Validate() error { return asError(checkName("name", c.Name, true)) }

// Validate checks the limits and refuses duplicates.
func (c *PutThrottle) Validate() error {
	s := &c.Spec
	if err := first(
		checkInt("global", s.Global, 0, LimitMax),
		asType(checkCount("types", len(s.Types)+len(s.Keys), 0, ThrottleMax)),
	); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range s.Types {
		field := fmt.Sprintf("types[%d]", i)
		if err := s.Types[i].validate(); err != nil {
			return within(field, withName("type", s.Types[i].Type, err))
		}
		if seen[s.Types[i].Type] {
			return Invalidf(field+".type", "%s is listed twice; list each type once", quote(s.Types[i].Type))
		}
		seen[s.Types[i].Type] = true
	}
	seen = map[string]bool{}
	for i, k := range s.Keys {
		field := fmt.Sprintf("keys[%d]", i)
		if err := k.validate(); err != nil {
			return within(field, withName("key", k.Key, err))
		}
		if seen[k.Key] {
			return Invalidf(field+".key", "%s is listed twice; list each key once", quote(k.Key))
		}
		seen[k.Key] = true
	}
	return nil
}

// withName adds the name of the type or key to an error, since an index says little.
func withName(kind, name string, err *Error) *Error {
	named := *err
	if name != "" {
		named.Reason = "of " + kind + " " + quote(name) + " " + err.Reason
	}
	return &named
}

func (t *TypeLimit) validate() *Error {
	err := first(checkName("type", t.Type, true), checkInt("concurrency", t.Concurrency, 0, LimitMax))
	switch {
	case err != nil:
		return err
	case t.Rate != Rate{}:
		return first(checkInt("rate.count", t.Rate.Count, 1, LimitMax), checkDuration("rate.per", t.Rate.Per, RatePerMin, RatePerMax))
	case t.Concurrency == 0:
		return Invalidf("concurrency", "neither concurrency nor rate is given; to stop a type, pause it")
	}
	return nil
}

func (k *KeyLimit) validate() *Error {
	if k.Key == "" {
		return Invalidf("key", "is empty")
	}
	return first(checkText("key", k.Key, KeyMax), checkInt("concurrency", k.Concurrency, 1, KeyLimitMax))
}

// Validate checks the specification, except the zone, which Declare checks, and the
// current time, which the store checks.
func (c *PutSchedule) Validate() error {
	err := first(checkName("name", c.Name, true), checkMode(c.Mode), c.Spec.validate(c.Name))
	if err == nil && c.State != "" {
		err = checkState(c.State)
	}
	if err == nil && c.Recreate && c.Mode == PutCreate {
		err = Invalidf("recreate", "replaces an existing schedule, but mode create refuses one; omit one of them")
	}
	return asError(first(err, checkTime("anchor", c.Anchor), checkTime("next", c.Next)))
}

func (s *ScheduleSpec) validate(name string) *Error {
	return first(
		checkName("template", s.Template, true),
		checkText("description", s.Description, DescriptionMax),
		s.validateTimes(name),
		s.validateScopes(),
		checkObject("params", s.Params, ParamsMax),
		checkIntPtr("priority", s.Priority, PriorityMin, PriorityMax),
		s.Policy.validate(),
		checkWord("catch_up", s.CatchUp, CatchUpNone, CatchUpLast, CatchUpAll),
		checkWord("overlap", s.Overlap, OverlapAllow, OverlapSkip, OverlapCancel),
		checkWord("on_completion", s.OnCompletion, CompletionPreserve, CompletionDrop),
		s.validateDepends(name),
		checkWord("class", s.Class, ClassLocalSafe, ClassLeaderOnly, ClassQuorumRequired),
		s.Partition.validate(),
	)
}

func (s *ScheduleSpec) validateTimes(name string) *Error {
	given := 0
	for _, is := range []bool{s.Cron != "", !s.At.IsZero(), s.Every != 0} {
		if is {
			given++
		}
	}
	switch {
	case given == 0:
		return Invalidf("cron", "none of cron, at and every is given; a schedule needs one")
	case given > 1:
		return Invalidf("cron", "more than one of cron, at and every is given; a schedule has one")
	case s.Zone != "" && s.Cron == "":
		return Invalidf("timezone", "is given, but only cron uses a zone")
	case !s.At.IsZero() && (!s.StartsAt.IsZero() || !s.EndsAt.IsZero()):
		return Invalidf("at", "starts_at or ends_at is also given; they are for cron and every")
	case !s.EndsAt.IsZero() && s.EndsAt.Before(s.StartsAt):
		return Invalidf("ends_at", "is before starts_at")
	}
	return first(checkTime("at", s.At), checkTime("starts_at", s.StartsAt), checkTime("ends_at", s.EndsAt),
		checkText("timezone", s.Zone, NameMax), s.validateExpression(name))
}

func (s *ScheduleSpec) validateExpression(name string) *Error {
	switch {
	case s.Cron != "":
		if _, err := cron.Parse(s.Cron, cron.Config{Name: name}); err != nil {
			return asInvalid("cron", err)
		}
	case s.Every != 0:
		if s.Every%cron.EveryMin != 0 {
			return Invalidf("every", "is %s; use whole milliseconds", FormatDuration(s.Every))
		}
		return checkDuration("every", s.Every, cron.EveryMin, cron.EveryMax)
	}
	return nil
}

func (s *ScheduleSpec) validateScopes() *Error {
	if len(s.Scopes) > ScopesMax {
		return Invalidf("scopes", "has %d entries; at most %d are allowed", len(s.Scopes), ScopesMax)
	}
	for i, scope := range s.Scopes {
		field := fmt.Sprintf("scopes[%d]", i)
		if scope.Kind == "" || scope.ID == "" {
			return Invalidf(field, "has an empty kind or id; give both")
		}
		if err := first(checkText(field+".kind", scope.Kind, NameMax), checkText(field+".id", scope.ID, KeyMax)); err != nil {
			return err
		}
	}
	return nil
}

func (s *ScheduleSpec) validateDepends(name string) *Error {
	if len(s.DependsOn) > DependsMax {
		return Invalidf("depends_on", "has %d entries; at most %d are allowed", len(s.DependsOn), DependsMax)
	}
	for i, on := range s.DependsOn {
		field := fmt.Sprintf("depends_on[%d]", i)
		if err := checkName(field, on, true); err != nil {
			return err
		}
		if on == name {
			return Invalidf(field, "is the schedule itself, which is a cycle")
		}
	}
	return nil
}

// Validate checks the state. Only ENABLED takes a next fire.
func (c *SwitchSchedule) Validate() error {
	err := first(checkName("name", c.Name, true), checkState(c.State), checkTime("next", c.Next))
	if err == nil && c.State != ScheduleEnabled && !c.Next.IsZero() {
		err = Invalidf("next", "is given, but a schedule that is %s has no next fire", c.State)
	}
	return asError(err)
}

// Validate requires a name.
func (c *DeleteSchedule) Validate() error { return asError(checkName("name", c.Name, true)) }

// Validate requires a name.
func (c *Drop) Validate() error { return asError(checkName("name", c.Name, true)) }

func checkMode(mode PutMode) *Error {
	return checkWord("mode", mode, PutCreate, PutReplace)
}

func checkState(state ScheduleState) *Error {
	return checkOneOf("state", state, ScheduleEnabled, ScheduleDisabled, SchedulePaused)
}

// checkWord allows the listed values and the empty value.
func checkWord[T ~string](field string, value T, allowed ...T) *Error {
	if value == "" {
		return nil
	}
	return checkOneOf(field, value, allowed...)
}

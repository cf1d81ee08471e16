package rota

import "fmt"

// PutMode is what a Put requires of an existing definition.
type PutMode string

// The modes. In every mode but create, a Put of an unchanged definition changes
// nothing.
const (
	PutAny     PutMode = ""        // create or replace
	PutCreate  PutMode = "create"  // refuse if it exists
	PutReplace PutMode = "replace" // refuse if it does not exist
)

// PutType declares a type. A paused type stays paused.
type PutType struct {
	Meta    `wire:"1"`
	Name    string   `wire:"2"`
	Mode    PutMode  `wire:"3"`
	Version *ID      `wire:"4"` // version the caller has read; nil: any
	Spec    TypeSpec `wire:"5"`
}

// Verb returns the kind of the command.
func (*PutType) Verb() Verb { return VerbPutType }

// Validate requires a name and checks the specification.
func (c *PutType) Validate() error {
	err := first(
		checkNewName("name", c.Name),
		checkMode(c.Mode),
		checkText("description", c.Spec.Description, DescriptionMax),
		checkObject("schema", c.Spec.Schema, SchemaMax),
		c.Spec.Policy.validate(),
	)
	return asError(err)
}

func (c *PutType) weigh() (entries, bytes int) {
	return 1, entryBytes + len(c.Spec.Schema) + len(c.Spec.Description)
}

// SwitchType pauses or resumes a type. Jobs of a paused type are accepted but not
// started. Running jobs continue.
type SwitchType struct {
	Meta   `wire:"1"`
	Name   string `wire:"2"`
	Paused bool   `wire:"3"`

	Version *ID `wire:"4"` // version the caller has read; nil: any
}

// Verb returns the kind of the command.
func (*SwitchType) Verb() Verb { return VerbSwitchType }

// Validate requires a name.
func (c *SwitchType) Validate() error { return asError(checkName("name", c.Name, true)) }

// TypePut answers PutType and SwitchType. Changed is false if nothing changed.
type TypePut struct {
	Type    *Type `wire:"1"`
	Changed bool  `wire:"2"`
}

func (*TypePut) reply() {}

// PutTemplate declares a template. Existing jobs do not change. An archived template
// stays archived. A template without an owner becomes one of the actor.
type PutTemplate struct {
	Meta    `wire:"1"`
	Name    string       `wire:"2"`
	Mode    PutMode      `wire:"3"`
	Version *ID          `wire:"4"` // version the caller has read; nil: any
	Spec    TemplateSpec `wire:"5"`
	// OnlySchedule refuses the command if a schedule with another name uses the
	// template, because the command would change that schedule too. Empty: any
	// schedule may use it.
	OnlySchedule string `wire:"6"`
	// Recreate declares the template as if it had not existed: it gets a new owner, and older grants do not
	// apply to it. Its state and its creator stay. A template that does not change, and that a schedule other than
	// OnlySchedule uses, stays as it is.
	Recreate bool `wire:"7"`
}

// Verb returns the kind of the command.
func (*PutTemplate) Verb() Verb { return VerbPutTemplate }

// Validate requires a name and a type and checks the specification.
func (c *PutTemplate) Validate() error {
	s := &c.Spec
	return asError(first(
		checkNewName("name", c.Name),
		checkMode(c.Mode),
		checkRecreate("template", c.Recreate, c.Mode),
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

func (c *PutTemplate) weigh() (entries, bytes int) {
	entries, bytes = weighWebhooks(c.Spec.Webhooks)
	return entries, bytes + entryBytes + len(c.Spec.Params) + len(c.Spec.Description)
}

// Archive ends the use of a template. Existing jobs do not change, new jobs are
// refused, and the schedules of the template are disabled.
type Archive struct {
	Meta    `wire:"1"`
	Name    string `wire:"2"`
	Version *ID    `wire:"3"` // version the caller has read; nil: any
}

// Verb returns the kind of the command.
func (*Archive) Verb() Verb { return VerbArchive }

// Validate requires a name.
func (c *Archive) Validate() error { return asError(checkName("name", c.Name, true)) }

// Unarchive allows new jobs of a template again. Its schedules stay disabled.
type Unarchive struct {
	Meta    `wire:"1"`
	Name    string `wire:"2"`
	Version *ID    `wire:"3"` // version the caller has read; nil: any
}

// Verb returns the kind of the command.
func (*Unarchive) Verb() Verb { return VerbUnarchive }

// Validate requires a name.
func (c *Unarchive) Validate() error { return asError(checkName("name", c.Name, true)) }

// TemplatePut answers PutTemplate, Archive and Unarchive. Disabled counts the schedules
// that this command disabled; Sweep disables the others.
type TemplatePut struct {
	Template *Template `wire:"1"`
	Changed  bool      `wire:"2"`
	Disabled int       `wire:"3"`
}

func (*TemplatePut) reply() {}

// PutThrottle replaces all limits on concurrency and rate. It takes effect at once.
// Running jobs continue.
type PutThrottle struct {
	Meta    `wire:"1"`
	Version *ID          `wire:"2"` // version the caller has read; nil: any
	Spec    ThrottleSpec `wire:"3"`
}

// Verb returns the kind of the command.
func (*PutThrottle) Verb() Verb { return VerbPutThrottle }

// Validate checks the limits and refuses duplicates.
func (c *PutThrottle) Validate() error {
	s := &c.Spec
	if err := first(
		checkInt("global", s.Global, 0, LimitMax),
		s.checkEntries(),
	); err != nil {
		return err
	}
	return asError(first(
		checkLimits("types", "type", s.Types, func(l *TypeLimit) (string, *Error) { return l.Type, l.validate() }),
		checkLimits("keys", "key", s.Keys, func(l *KeyLimit) (string, *Error) { return l.Key, l.validate() }),
		checkLimits("each_key", "pattern", s.EachKey, func(l *EachKeyLimit) (string, *Error) { return l.Pattern, l.validate() }),
		checkLimits("each_key_of_type", "type", s.EachKeyOfType, func(l *EachKeyOfTypeLimit) (string, *Error) { return l.Type, l.validate() }),
	))
}

// checkLimits checks a list of limits. Each has a name, which is in the field nameField
// and which no other one has.
func checkLimits[L any](list, nameField string, limits []L, check func(*L) (name string, err *Error)) *Error {
	seen := map[string]bool{}
	for i := range limits {
		field := fmt.Sprintf("%s[%d]", list, i)
		name, err := check(&limits[i])
		if err != nil {
			return asType(within(field, withName(nameField, name, err)))
		}
		if seen[name] {
			return Invalidf(field+"."+nameField, "%s is listed twice; list each %s once", quote(name), nameField)
		}
		seen[name] = true
	}
	return nil
}

// checkEntries bounds the number of limits. The error names the longest list.
func (s *ThrottleSpec) checkEntries() *Error {
	if s.entries() <= ThrottleMax {
		return nil
	}
	field, most := "types", len(s.Types)
	for _, list := range []struct {
		field string
		n     int
	}{{"keys", len(s.Keys)}, {"each_key", len(s.EachKey)}, {"each_key_of_type", len(s.EachKeyOfType)}} {
		if list.n > most {
			field, most = list.field, list.n
		}
	}
	return Invalidf(field, "has %d entries, and all limits of types and keys together have %d; allowed are %d together; remove some, or use each_key for keys with the same prefix",
		most, s.entries(), ThrottleMax)
}

// entries returns the number of limits of types and keys.
func (s *ThrottleSpec) entries() int {
	return len(s.Types) + len(s.Keys) + len(s.EachKey) + len(s.EachKeyOfType)
}

func (c *PutThrottle) weigh() (entries, bytes int) {
	n := 1 + c.Spec.entries()
	for _, k := range c.Spec.Keys {
		bytes += len(k.Key)
	}
	for _, k := range c.Spec.EachKey {
		bytes += len(k.Pattern)
	}
	return n, bytes + n*entryBytes
}

// ThrottlePut answers PutThrottle.
type ThrottlePut struct {
	Throttle *Throttle `wire:"1"`
	Changed  bool      `wire:"2"`
}

func (*ThrottlePut) reply() {}

// checkRecreate refuses to recreate what a Put in mode create requires to be absent.
func checkRecreate(kind string, recreate bool, mode PutMode) *Error {
	if recreate && mode == PutCreate {
		return Invalidf("recreate", "replaces an existing %s, but mode create refuses one; omit one of them", kind)
	}
	return nil
}

func checkMode(mode PutMode) *Error {
	return checkWord("mode", mode, PutCreate, PutReplace)
}

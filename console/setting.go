package console

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rotajobs/rota/console/sys"
	"github.com/rotajobs/rota/ddl"
)

// own are settings that clients make up: two names with a dot between.
var own = regexp.MustCompile(`^[a-z_][a-z0-9_$]*(\.[a-z_][a-z0-9_$]*)+$`)

// ownMost bounds how many of them a session keeps.
const ownMost = 100

// Setting is how a setting stands in the session.
func (s *Session) Setting(name string) (value string, known bool) {
	name = strings.ToLower(name)
	if value, changed := s.settings[name]; changed {
		return value, true
	}
	one, known := settings[name]
	switch name {
	case "server_version":
		return serverVersion + " (Rota " + s.console.config.Version + ")", true
	case "rota_version":
		return s.console.config.Version, true
	case "session_authorization":
		return s.user, true
	case "transaction_isolation":
		if s.open != nil && s.open.level != "" {
			return s.open.level, true
		}
		return s.Setting("default_transaction_isolation")
	case "transaction_read_only":
		if s.open != nil && s.open.readOnly || s.open == nil && s.readOnly() {
			return "on", true
		}
	}
	return one.value, known
}

// Set changes a setting for the session, as SET does.
func (s *Session) Set(name, value string) error {
	name = strings.ToLower(name)
	kept, err := s.checked(name, value)
	if err != nil {
		return err
	}
	s.put(name, kept)
	return nil
}

func (s *Session) checked(name, value string) (string, error) {
	one, known := settings[name]
	switch {
	case !known && own.MatchString(name):
		if len(s.settings) >= len(settings)+ownMost {
			return "", refuse(StateLimit, "remove some with RESET", "the session already has %d custom settings, which is the limit", ownMost)
		}
		return value, nil
	case !known:
		return "", refuse(StateUnknown, "SHOW ALL lists the settings", "there is no setting %s", name)
	case one.check == nil:
		return "", refuse(StateFixed, "", "the setting %s cannot be changed", one.title)
	case len(value) > valueMost:
		return "", refuse(StateLimit, "shorten it", "the value of the setting %s has more than %d bytes", one.title, valueMost)
	}
	kept, ok := one.check(value)
	if !ok {
		return "", refuse(StateBadValue, one.about, "invalid value for the setting %s: %q", one.title, value)
	}
	return kept, nil
}

// valueMost is how many bytes the value of a setting may have.
const valueMost = 10_000

func (s *Session) put(name, value string) {
	if s.settings == nil {
		s.settings = map[string]string{}
	}
	s.settings[name] = value
}

// set is SET. A local one is taken back when the transaction ends, and every one
// when it ends in vain.
func (s *Session) set(q *ddl.Set) (*Answer, error) {
	switch {
	case q.Values == nil:
		return s.reset(&ddl.Reset{Name: q.Name}, "SET")
	case q.Local && (s.open == nil || s.open.implicit):
		return done("SET").notice("SET LOCAL can only be used in transaction blocks"), nil
	}
	kept, err := s.checked(q.Name, strings.Join(q.Values, ", "))
	if err != nil {
		return nil, err
	}
	if q.Local {
		s.open.local(q.Name, s.settings)
	} else if s.open != nil {
		delete(s.open.locals, q.Name)
	}
	s.put(q.Name, kept)
	a := done("SET")
	if s.brief {
		a.notice("the setting applies to this request only; to keep it, connect to the SQL port, for example with psql")
	}
	return a, nil
}

// local remembers how a setting stood.
func (tx *transaction) local(name string, now map[string]string) {
	if tx.locals == nil {
		tx.locals = map[string]*string{}
	}
	if _, known := tx.locals[name]; known {
		return
	}
	tx.locals[name] = nil
	if value, is := now[name]; is {
		tx.locals[name] = &value
	}
}

// settle puts the settings as they are to be behind a transaction.
func (s *Session) settle(tx *transaction, kept bool) {
	if !kept {
		s.settings = tx.before
		return
	}
	for name, value := range tx.locals {
		delete(s.settings, name)
		if value != nil {
			s.put(name, *value)
		}
	}
}

func (s *Session) setMode(q *ddl.SetMode) (*Answer, error) {
	reads := q.ReadOnly != nil && *q.ReadOnly
	switch {
	case q.Session:
		if q.ReadOnly != nil {
			s.put("default_transaction_read_only", map[bool]string{true: "on", false: "off"}[reads])
		}
		if q.Level != "" {
			s.put("default_transaction_isolation", strings.ToLower(q.Level))
		}
	case s.open == nil || s.open.implicit:
		return done("SET").notice("SET TRANSACTION can only be used in transaction blocks"), nil
	case s.open.asked && s.open.readOnly && q.ReadOnly != nil && !reads:
		return nil, refuse(StateNested, "begin another transaction", "transaction read-write mode must be set before any query")
	case s.open.size > 0 && reads:
		return nil, refuse(StateNested, "write READ ONLY after BEGIN", "transaction read-only mode must be set before any statement that writes")
	default:
		if q.ReadOnly != nil {
			s.open.readOnly = reads
		}
		s.open.level = cmp.Or(strings.ToLower(q.Level), s.open.level)
	}
	return done("SET"), nil
}

func (s *Session) reset(q *ddl.Reset, tag string) (*Answer, error) {
	if q.Name == "" {
		s.settings = nil
		return done(tag), nil
	}
	if one, known := settings[q.Name]; known && one.check == nil {
		return nil, refuse(StateFixed, "", "the setting %s cannot be changed", one.title)
	} else if !known && !own.MatchString(q.Name) {
		return nil, refuse(StateUnknown, "SHOW ALL lists the settings", "there is no setting %s", q.Name)
	}
	delete(s.settings, q.Name)
	return done(tag), nil
}

// readOnly says whether what stands by itself may not write.
func (s *Session) readOnly() bool { return s.settings["default_transaction_read_only"] == "on" }

func (s *Session) discard(q *ddl.Discard) (*Answer, error) {
	a := done(q.Tag())
	switch q.What {
	case "ALL":
		if s.open != nil {
			return nil, refuse(StateNested, "end the transaction first", "DISCARD ALL cannot run inside a transaction block")
		}
		s.settings = nil
		a.Forget = new("")
	case "PLANS":
	}
	return a, nil
}

func (s *Session) deallocate(q *ddl.Deallocate) (*Answer, error) {
	a := done(q.Tag())
	a.Forget = &q.Name
	return a, nil
}

// spelled are the settings that SHOW knows by several words.
var spelled = map[string]string{"time zone": "timezone", "transaction isolation level": "transaction_isolation", "session authorization": "session_authorization"}

func (s *Session) show(name string) (*Answer, error) {
	if name == "all" {
		return s.showAll(), nil
	}
	if plain, known := spelled[name]; known {
		name = plain
	}
	value, known := s.Setting(name)
	if !known {
		return nil, refuse(StateUnknown, "SHOW ALL lists the settings, SHOW JOBS lists the jobs, SHOW CREATE JOB name shows the statement that creates a job", "there is no setting %s", name)
	}
	return table("SHOW", showColumns(name), []any{value}), nil
}

func showColumns(name string) []sys.Column {
	if plain, known := spelled[name]; known {
		name = plain
	}
	if one, known := settings[name]; known {
		name = one.title
	}
	return []sys.Column{{Name: name, Kind: sys.Text}}
}

var allColumns = []sys.Column{{Name: "name", Kind: sys.Text}, {Name: "setting", Kind: sys.Text}, {Name: "description", Kind: sys.Text}}

func (s *Session) showAll() *Answer {
	a := table("SHOW", allColumns)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value, _ := s.Setting(name)
		a.Rows = append(a.Rows, []any{settings[name].title, value, settings[name].about})
	}
	return a
}

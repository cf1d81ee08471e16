package session

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/system"
)

// customSetting matches settings that clients define: names with a dot between.
var customSetting = regexp.MustCompile(`^[a-z_][a-z0-9_$]*(\.[a-z_][a-z0-9_$]*)+$`)

// customSettingsMax bounds how many of them a session keeps.
const customSettingsMax = 100

// Setting returns the value of a setting.
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
	case "is_superuser":
		return s.isSuperuser(), true
	case "transaction_isolation":
		if s.tx != nil && s.tx.level != "" {
			return s.tx.level, true
		}
		return s.Setting("default_transaction_isolation")
	case "transaction_read_only":
		if s.tx != nil && s.tx.readOnly || s.tx == nil && s.readOnly() {
			return "on", true
		}
	}
	return one.value, known
}

// Set changes a setting for the session, as SET does.
func (s *Session) Set(name, value string) error {
	name = strings.ToLower(name)
	kept, err := s.checkSetting(name, value)
	if err != nil {
		return err
	}
	s.put(name, kept)
	return nil
}

func (s *Session) checkSetting(name, value string) (string, error) {
	one, known := settings[name]
	switch {
	case len(value) > valueMax:
		return "", newError(StateLimit, "shorten it", "the value of the setting %s has more than %d bytes", cmp.Or(one.title, name), valueMax)
	case !known && customSetting.MatchString(name):
		if len(s.settings) >= len(settings)+customSettingsMax {
			return "", newError(StateLimit, "remove some with RESET", "the session already has %d custom settings, which is the limit", customSettingsMax)
		}
		return value, nil
	case !known:
		return "", newError(StateUnknown, "SHOW ALL lists the settings", "there is no setting %s", name)
	case one.check == nil:
		return "", newError(StateCannotChange, "", "the setting %s cannot be changed", one.title)
	}
	kept, ok := one.check(value)
	if !ok {
		return "", newError(StateBadValue, one.description, "invalid value for the setting %s: %q", one.title, value)
	}
	return kept, nil
}

// valueMax is how many bytes the value of a setting may have.
const valueMax = 10_000

func (s *Session) put(name, value string) {
	if s.settings == nil {
		s.settings = map[string]string{}
	}
	s.settings[name] = value
}

// set runs SET. SET LOCAL is undone at the end of the transaction, and every SET at ROLLBACK.
func (s *Session) set(q *ddl.Set) (*Answer, error) {
	switch {
	case q.Values == nil:
		return s.reset(&ddl.Reset{Name: q.Name}, "SET")
	case q.Local && (s.tx == nil || s.tx.implicit):
		return tagAnswer("SET").notice("SET LOCAL can only be used in transaction blocks"), nil
	}
	kept, err := s.checkSetting(q.Name, strings.Join(q.Values, ", "))
	if err != nil {
		return nil, err
	}
	if q.Local {
		s.tx.saveLocal(q.Name, s.settings)
	} else if s.tx != nil {
		delete(s.tx.savedLocals, q.Name)
	}
	s.put(q.Name, kept)
	a := tagAnswer("SET")
	if s.singleRequest {
		a.notice("the setting applies to this request only; to keep it, connect to the SQL port, for example with psql")
	}
	return a, nil
}

// saveLocal saves the value of a setting before SET LOCAL.
func (tx *transaction) saveLocal(name string, now map[string]string) {
	if tx.savedLocals == nil {
		tx.savedLocals = map[string]*string{}
	}
	if _, known := tx.savedLocals[name]; known {
		return
	}
	tx.savedLocals[name] = nil
	if value, is := now[name]; is {
		tx.savedLocals[name] = &value
	}
}

// restoreSettings restores the settings at the end of a transaction: those of SET LOCAL, and all after a rollback.
func (s *Session) restoreSettings(tx *transaction, kept bool) {
	if !kept {
		s.settings = tx.savedSettings
		return
	}
	for name, value := range tx.savedLocals {
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
	case s.tx == nil || s.tx.implicit:
		return tagAnswer("SET").notice("SET TRANSACTION can only be used in transaction blocks"), nil
	case s.tx.queried && s.tx.readOnly && q.ReadOnly != nil && !reads:
		return nil, newError(StateActiveTransaction, "begin another transaction", "transaction read-write mode must be set before any query")
	case s.tx.writes > 0 && reads:
		return nil, newError(StateActiveTransaction, "write READ ONLY after BEGIN", "transaction read-only mode must be set before any statement that writes")
	default:
		if q.ReadOnly != nil {
			s.tx.readOnly = reads
		}
		s.tx.level = cmp.Or(strings.ToLower(q.Level), s.tx.level)
	}
	return tagAnswer("SET"), nil
}

func (s *Session) reset(q *ddl.Reset, tag string) (*Answer, error) {
	if q.Name == "" {
		s.settings = nil
		return tagAnswer(tag), nil
	}
	if one, known := settings[q.Name]; known && one.check == nil {
		return nil, newError(StateCannotChange, "", "the setting %s cannot be changed", one.title)
	} else if !known && !customSetting.MatchString(q.Name) {
		return nil, newError(StateUnknown, "SHOW ALL lists the settings", "there is no setting %s", q.Name)
	}
	delete(s.settings, q.Name)
	return tagAnswer(tag), nil
}

// readOnly reports whether statements outside of transactions are read-only.
func (s *Session) readOnly() bool { return s.settings["default_transaction_read_only"] == "on" }

func (s *Session) discard(q *ddl.Discard) (*Answer, error) {
	switch {
	case q.What != "ALL":
		return tagAnswer(q.Tag()), nil
	case s.tx != nil:
		return nil, newError(StateActiveTransaction, "end the transaction first", "DISCARD ALL cannot run inside a transaction block")
	}
	s.settings = nil
	return &Answer{Tag: q.Tag(), Deallocate: new("")}, nil
}

// settingAliases are names of several words that SHOW accepts.
var settingAliases = map[string]string{"time zone": "timezone", "transaction isolation level": "transaction_isolation", "session authorization": "session_authorization"}

func (s *Session) show(name string) (*Answer, error) {
	if name == "all" {
		return s.showAll(), nil
	}
	value, known := s.Setting(cmp.Or(settingAliases[name], name))
	if !known {
		return nil, newError(StateUnknown, "SHOW ALL lists the settings, SHOW JOBS lists the jobs, SHOW CREATE JOB name shows the statement that creates a job", "there is no setting %s", name)
	}
	return rowsAnswer("SHOW", showColumns(name), []any{value}), nil
}

func showColumns(name string) []system.Column {
	name = cmp.Or(settingAliases[name], name)
	if one, known := settings[name]; known {
		name = one.title
	}
	return []system.Column{{Name: name, Kind: system.Text}}
}

var allColumns = []system.Column{{Name: "name", Kind: system.Text}, {Name: "setting", Kind: system.Text}, {Name: "description", Kind: system.Text}}

func (s *Session) showAll() *Answer {
	a := rowsAnswer("SHOW", allColumns)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value, _ := s.Setting(name)
		a.Rows = append(a.Rows, []any{settings[name].title, value, settings[name].description})
	}
	return a
}

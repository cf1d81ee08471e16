package ddl

import (
	"cmp"
	"strings"
)

// Print writes a statement in its canonical form: keywords in upper case, one
// clause a line, clauses in the order of the manual. Parse returns an equal
// statement, except for passwords and values of secrets, which Print writes as ***.
func Print(s Statement) string { return s.print() }

func (s *ExecuteJob) print() string    { return "EXECUTE JOB " + printName(s.Name) }
func (s *CancelRun) print() string     { return "CANCEL JOB RUN " + quoteString(s.ID) }
func (s *ExplainRun) print() string    { return "EXPLAIN JOB RUN " + quoteString(s.ID) }
func (s *ShowJobs) print() string      { return "SHOW JOBS" }
func (s *ShowCreateJob) print() string { return "SHOW CREATE JOB " + printName(s.Name) }
func (s *ShowUsers) print() string     { return "SHOW USERS" }
func (s *ShowRoles) print() string     { return "SHOW ROLES" }
func (s *Show) print() string          { return "SHOW " + s.Name }
func (s *Commit) print() string        { return s.Tag() }
func (s *Rollback) print() string      { return s.Tag() }
func (s *Discard) print() string       { return s.Tag() }
func (s *NoOp) print() string          { return s.What }
func (s *Savepoint) print() string     { return "SAVEPOINT " + printName(s.Name) }
func (s *Release) print() string       { return "RELEASE SAVEPOINT " + printName(s.Name) }
func (s *RollbackTo) print() string    { return "ROLLBACK TO SAVEPOINT " + printName(s.Name) }
func (s *Select) print() string        { return s.Text }
func (s *ExplainQuery) print() string  { return s.Text }

// given returns the text of an optional part of a statement.
func given(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// join prints the entries of a list.
func join[T any](list []T, separator string, print func(T) string) string {
	printed := make([]string, len(list))
	for i, entry := range list {
		printed[i] = print(entry)
	}
	return strings.Join(printed, separator)
}

func (s *CreateJob) print() string {
	head := s.Tag() + " " + given(s.IfNotExists, "IF NOT EXISTS ") + printName(s.Name)
	return strings.Join(append([]string{head}, s.Job.print(false)...), "\n  ")
}

func (s *AlterJob) print() string {
	text := []string{s.Tag() + " " + given(s.IfExists, "IF EXISTS ") + printName(s.Name)}
	for _, line := range s.Set.print(true) {
		text = append(text, "SET "+line)
	}
	for _, c := range s.Secrets {
		text = append(text, c.print())
	}
	return strings.Join(text, "\n  ")
}

func (s *AlterOwner) print() string {
	return s.Tag() + " " + given(s.IfExists, "IF EXISTS ") + printName(s.Name) + " OWNER TO " + printUser(s.Owner)
}

func (s *ShowGrants) print() string {
	if s.For == nil {
		return "SHOW GRANTS"
	}
	return "SHOW GRANTS FOR " + printUser(*s.For)
}

// printUser prints a name that may be CURRENT_USER.
func printUser(name string) string { return cmp.Or(given(name != "", printName(name)), "CURRENT_USER") }

func (c SecretChange) print() string {
	if c.Drop {
		return "DROP SECRET " + quoteString(c.Key)
	}
	return "SET SECRET " + quoteString(c.Key) + " = " + masked
}

func (s *DropJob) print() string {
	return "DROP JOB " + given(s.IfExists, "IF EXISTS ") + printName(s.Name) + given(s.KeepHistory, " KEEP HISTORY")
}

func (s *Begin) print() string { return "BEGIN" + s.Mode.print() }

func (m *Mode) print() string {
	text := given(m.Level != "", " ISOLATION LEVEL "+m.Level)
	if m.ReadOnly != nil {
		text += map[bool]string{true: " READ ONLY", false: " READ WRITE"}[*m.ReadOnly]
	}
	return text
}

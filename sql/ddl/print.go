package ddl

import (
	"fmt"
	"strings"
)

// Print writes a statement in its canonical form: keywords in upper case, one
// clause a line, clauses in the order of the manual. Parse returns an equal
// statement, except for passwords and values of secrets, which Print writes as ***.
func Print(s Statement) string {
	switch s := s.(type) {
	case *CreateJob:
		return s.print()
	case *AlterJob:
		return s.print()
	case *DropJob:
		return s.print()
	case *ExecuteJob:
		return "EXECUTE JOB " + printName(s.Name)
	case *CancelRun:
		return "CANCEL JOB RUN " + quoteString(s.ID)
	case *ExplainRun:
		return "EXPLAIN JOB RUN " + quoteString(s.ID)
	case *ShowJobs:
		return "SHOW JOBS"
	case *ShowCreateJob:
		return "SHOW CREATE JOB " + printName(s.Name)
	case *Show:
		return "SHOW " + s.Name
	case *Begin:
		return s.print()
	case *Commit, *Rollback, *Discard:
		return s.Tag()
	case *Set:
		return s.print()
	case *SetMode:
		return s.print()
	case *Reset:
		return s.print()
	case *Deallocate:
		return s.print()
	case *NoOp:
		return s.What
	case *Savepoint:
		return "SAVEPOINT " + printName(s.Name)
	case *Release:
		return "RELEASE SAVEPOINT " + printName(s.Name)
	case *RollbackTo:
		return "ROLLBACK TO SAVEPOINT " + printName(s.Name)
	case *Select:
		return s.Text
	case *ExplainQuery:
		return s.Text
	case *Security:
		return s.print()
	default:
		panic(fmt.Sprintf("ddl: %T is not a statement of this package", s))
	}
}

func (s *CreateJob) print() string {
	head := s.Tag() + " "
	if s.IfNotExists {
		head += "IF NOT EXISTS "
	}
	return strings.Join(append([]string{head + printName(s.Name)}, s.Job.print(false)...), "\n  ")
}

func (s *AlterJob) print() string {
	head := s.Tag() + " "
	if s.IfExists {
		head += "IF EXISTS "
	}
	text := []string{head + printName(s.Name)}
	for _, line := range s.Set.print(true) {
		text = append(text, "SET "+line)
	}
	for _, c := range s.Secrets {
		text = append(text, c.print())
	}
	return strings.Join(text, "\n  ")
}

func (c SecretChange) print() string {
	if c.Drop {
		return "DROP SECRET " + quoteString(c.Key)
	}
	return "SET SECRET " + quoteString(c.Key) + " = " + masked
}

func (s *DropJob) print() string {
	text := "DROP JOB "
	if s.IfExists {
		text += "IF EXISTS "
	}
	text += printName(s.Name)
	if s.KeepHistory {
		text += " KEEP HISTORY"
	}
	return text
}

func (s *Begin) print() string { return "BEGIN" + s.Mode.print() }

func (m *Mode) print() (text string) {
	if m.Level != "" {
		text = " ISOLATION LEVEL " + m.Level
	}
	switch {
	case m.ReadOnly == nil:
	case *m.ReadOnly:
		text += " READ ONLY"
	default:
		text += " READ WRITE"
	}
	return text
}

package rota

import (
	"slices"
	"strings"
)

// Privilege is a right that can be granted, on one definition or on all.
type Privilege string

// The privileges.
const (
	CreateJob          Privilege = "CREATE JOB"           // create jobs, templates and schedules; cannot be granted on one definition
	AlterJob           Privilege = "ALTER JOB"            // change, pause, cancel, retry, move
	DropJob            Privilege = "DROP JOB"             // delete and archive
	ExecuteJob         Privilege = "EXECUTE JOB"          // trigger, backfill, enqueue from the template
	ViewJobHistory     Privilege = "VIEW JOB HISTORY"     // runs, params, results, logs
	ExecuteExternalJob Privilege = "EXECUTE EXTERNAL JOB" // create and run jobs that start commands
	Admin              Privilege = "ADMIN"                // everything; cannot be granted on one definition
)

// Privileges lists every privilege.
var Privileges = []Privilege{CreateJob, AlterJob, DropJob, ExecuteJob, ViewJobHistory, ExecuteExternalJob, Admin}

// OnJob reports whether the privilege can be granted on one definition.
func (p Privilege) OnJob() bool { return p != CreateJob && p != Admin }

// checkPrivilege refuses a privilege that does not exist, or that cannot be granted on one definition.
func checkPrivilege(field string, p Privilege, job string) *Error {
	switch {
	case !slices.Contains(Privileges, p):
		names := make([]string, len(Privileges))
		for i, one := range Privileges {
			names[i] = string(one)
		}
		return Invalidf(field, "is %.40q, which is not a privilege; use %s", string(p), strings.Join(names, ", "))
	case job != "" && !p.OnJob():
		return Invalidf(field, "%s cannot be granted on one job; leave the job out", p)
	}
	return nil
}

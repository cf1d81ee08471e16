package ddl

// Statement is one of the statements of this package, each a pointer to its
// struct. The set is closed.
type Statement interface {
	Tag() string // the command tag of the answer, such as CREATE JOB
	print() string
}

// CreateMode states what happens if the job exists.
type CreateMode int

// The modes.
const (
	Create        CreateMode = iota // an error
	CreateOrAlter                   // the job is changed
	Recreate                        // the job is dropped first
)

// CreateJob makes a job. Its Job has a schedule and an action.
type CreateJob struct {
	Name        string
	Mode        CreateMode
	IfNotExists bool // only with Create
	Job         Clauses
}

// AlterJob changes the given clauses of a job and leaves the rest.
type AlterJob struct {
	Name     string
	IfExists bool
	Set      Clauses
	Secrets  []SecretChange
}

// SecretChange sets or drops a secret of a job.
type SecretChange struct {
	Key   string
	Value string // never printed
	Drop  bool
}

// AlterOwner gives a job another owner.
type AlterOwner struct {
	Name     string
	IfExists bool
	Owner    string // empty: CURRENT_USER
}

// DropJob removes a job, and its history unless that is kept.
type DropJob struct {
	Name        string
	IfExists    bool
	KeepHistory bool
}

// ExecuteJob runs a job now.
type ExecuteJob struct{ Name string }

// CancelRun stops a run.
type CancelRun struct{ ID string }

// ExplainRun asks for the reasons why a run does not run.
type ExplainRun struct{ ID string }

// ShowJobs lists the jobs.
type ShowJobs struct{}

// ShowCreateJob asks for the statement that creates a job.
type ShowCreateJob struct{ Name string }

// ShowGrants lists who has which privilege: everyone, or with For one user or role, CURRENT_USER if its name is empty.
type ShowGrants struct{ For *string }

// ShowUsers lists the users.
type ShowUsers struct{}

// ShowRoles lists the roles.
type ShowRoles struct{}

// Show asks for a setting of the session, such as server_version or, in several
// words, time zone. Its name is in lower case, with single spaces.
type Show struct{ Name string }

// Begin opens a transaction.
type Begin struct{ Mode }

// Mode holds the transaction modes that a statement gives.
type Mode struct {
	ReadOnly *bool  // nil: not given
	Level    string // isolation level, such as SERIALIZABLE; empty: not given
}

// Commit ends a transaction and keeps its changes.
type Commit struct{}

// Rollback ends a transaction and discards its changes.
type Rollback struct{}

// Select is a query: SELECT, WITH, VALUES or TABLE. It is not parsed here.
type Select struct{ Text string }

// ExplainQuery asks for the plan of a query. Its text is the whole statement,
// EXPLAIN included.
type ExplainQuery struct{ Text string }

// Tag names the mode: CREATE JOB, CREATE OR ALTER JOB or RECREATE JOB.
func (s *CreateJob) Tag() string {
	switch s.Mode {
	case CreateOrAlter:
		return "CREATE OR ALTER JOB"
	case Recreate:
		return "RECREATE JOB"
	default:
		return "CREATE JOB"
	}
}

// Tag is ALTER JOB.
func (*AlterJob) Tag() string { return "ALTER JOB" }

// Tag is ALTER JOB.
func (*AlterOwner) Tag() string { return "ALTER JOB" }

// Tag is DROP JOB.
func (*DropJob) Tag() string { return "DROP JOB" }

// Tag is EXECUTE JOB.
func (*ExecuteJob) Tag() string { return "EXECUTE JOB" }

// Tag is CANCEL JOB RUN.
func (*CancelRun) Tag() string { return "CANCEL JOB RUN" }

// Tag is EXPLAIN, as clients know it.
func (*ExplainRun) Tag() string { return "EXPLAIN" }

// Tag is SHOW.
func (*ShowJobs) Tag() string { return "SHOW" }

// Tag is SHOW.
func (*ShowCreateJob) Tag() string { return "SHOW" }

// Tag is SHOW.
func (*ShowGrants) Tag() string { return "SHOW" }

// Tag is SHOW.
func (*ShowUsers) Tag() string { return "SHOW" }

// Tag is SHOW.
func (*ShowRoles) Tag() string { return "SHOW" }

// Tag is SHOW.
func (*Show) Tag() string { return "SHOW" }

// Tag is BEGIN.
func (*Begin) Tag() string { return "BEGIN" }

// Tag is COMMIT.
func (*Commit) Tag() string { return "COMMIT" }

// Tag is ROLLBACK.
func (*Rollback) Tag() string { return "ROLLBACK" }

// Tag is SELECT, however the query begins.
func (*Select) Tag() string { return "SELECT" }

// Tag is EXPLAIN.
func (*ExplainQuery) Tag() string { return "EXPLAIN" }

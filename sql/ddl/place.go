package ddl

// Places returns where the parts of the first statement of a text are, for errors that are found later: the offset in
// bytes of the value of each clause, by the name of the clause. PlaceName and the constants below it are other parts; the
// bounds of a schedule are STARTS and ENDS. DependsPlace, GranteePlace and PrivilegePlace name an entry of a list. Parts after a syntax error are missing.
func Places(text string) map[string]int {
	p, err := newParser(text)
	if err != nil {
		return nil
	}
	p.places = map[string]int{}
	p.statement()
	return p.places
}

// The parts of statements that are no clauses.
const (
	PlaceName   = "the name" // of the job, user or role
	PlaceRun    = "the run"
	PlaceAction = "AS"
	PlaceOwner  = "OWNER TO"
	PlaceRole   = "the role" // that is granted
	PlaceOnJob  = "ON JOB"
	PlaceFor    = "FOR" // of SHOW GRANTS
)

// DependsPlace is the name of one job in DEPENDS ON.
func DependsPlace(job string) string { return "DEPENDS ON " + job }

// GranteePlace is one user or role that GRANT and REVOKE are about.
func GranteePlace(name string) string { return "TO " + name }

// PrivilegePlace is one privilege of GRANT and REVOKE.
func PrivilegePlace(privilege string) string { return "privilege " + privilege }

// mark keeps where a part begins: at the next token.
func (p *parser) mark(part string) { p.markAt(part, p.tok) }

func (p *parser) markAt(part string, t token) {
	if p.places != nil && p.err == nil {
		p.places[part] = t.Start
	}
}

// job reads the name of the job that the statement is about.
func (p *parser) job() string {
	p.mark(PlaceName)
	return p.name(jobName)
}

// run reads the id of the run that the statement is about.
func (p *parser) run() string {
	p.mark(PlaceRun)
	return p.uuid(runID)
}

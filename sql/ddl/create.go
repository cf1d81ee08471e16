package ddl

// createJob parses the name and the clauses, and then checks that the required clauses are there.
func (p *parser) createJob(s *CreateJob) Statement {
	s.Name = p.job()
	given := clausePositions{}
	for !p.atEnd() {
		if state := p.stateWord(); state != "" {
			p.checkOnce(given, "STATE")
			p.advance()
			s.Job.State = &state
			continue
		}
		p.clause(&s.Job, given, inCreateJob)
	}
	switch {
	case p.err != nil:
	case s.Job.Schedule == nil && s.Job.Action == nil:
		p.unexpected("SCHEDULE and AS, which every job needs")
	case s.Job.Schedule == nil:
		p.unexpected("SCHEDULE, which every job needs")
	case s.Job.Action == nil:
		p.unexpected("AS, which every job needs")
	}
	p.checkCombinations(&s.Job, given)
	return s
}

// stateWord returns the next token if it is a state, such as ENABLED, written without STATE =.
func (p *parser) stateWord() string {
	for _, state := range states {
		if p.tok.is(state) {
			return state
		}
	}
	return ""
}

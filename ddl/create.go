package ddl

// createJob reads the name and the clauses. Those that a job cannot do without
// are asked for at the end.
func (p *parser) createJob(s *CreateJob) Statement {
	s.Name = p.name(jobName)
	said := sayings{}
	for !p.atEnd() {
		if state := p.bareState(); state != "" {
			p.once(said, "STATE")
			p.advance()
			s.Job.State = &state
			continue
		}
		p.clause(&s.Job, said, creating)
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
	p.checkTogether(&s.Job, said)
	return s
}

// bareState is the state that stands next without the word STATE.
func (p *parser) bareState() string {
	for _, state := range states {
		if p.tok.is(state) {
			return state
		}
	}
	return ""
}

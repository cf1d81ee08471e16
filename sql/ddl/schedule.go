package ddl

// scheduleClause reads when the job runs.
func (p *parser) scheduleClause(c *Clauses) {
	p.equals()
	s := &Schedule{}
	switch p.choose("", "CRON", "EVERY", "AT") {
	case "CRON":
		s.Kind, s.Cron = Cron, p.nonEmptyString("the cron expression")
		p.bounds(s)
	case "EVERY":
		s.Kind, s.Every = Every, p.interval("EVERY", false)
		p.bounds(s)
	case "AT":
		s.Kind, s.At = At, p.timestamp()
		if p.tok.is("STARTS") || p.tok.is("ENDS") {
			p.failAt(p.tok, "", p.tok.upper+" cannot be used with AT, which is a single time", "leave it out")
		}
	}
	c.Schedule = s
}

// bounds reads STARTS and ENDS, in either order.
func (p *parser) bounds(s *Schedule) {
	for p.tok.is("STARTS") || p.tok.is("ENDS") {
		word := p.tok
		bound := &s.Starts
		if word.upper == "ENDS" {
			bound = &s.Ends
		}
		if *bound != "" {
			p.failAt(word, "", word.upper+" is given twice", "remove one of them")
			return
		}
		p.advance()
		*bound = p.timestamp()
	}
}

// usesZone reports whether a time zone changes when the schedule fires.
func (s *Schedule) usesZone() bool {
	if s.Kind == Cron {
		return true
	}
	for _, t := range []string{s.At, s.Starts, s.Ends} {
		if t != "" && !hasOffset(t) {
			return true
		}
	}
	return false
}

func (s Schedule) print() string {
	text := "CRON " + quoteString(s.Cron)
	switch s.Kind {
	case At:
		return "AT " + quoteString(s.At)
	case Every:
		text = "EVERY " + printInterval(s.Every)
	}
	return text + given(s.Starts != "", " STARTS "+quoteString(s.Starts)) + given(s.Ends != "", " ENDS "+quoteString(s.Ends))
}

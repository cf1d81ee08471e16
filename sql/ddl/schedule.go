package ddl

// scheduleClause reads when the job runs.
func (p *parser) scheduleClause(c *Clauses) {
	p.equals()
	s := &Schedule{}
	kind := p.choose("", "CRON", "EVERY", "AT")
	p.mark("SCHEDULE") // its value is the expression, the interval or the time
	switch kind {
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
		p.mark(word.upper)
		*bound = p.timestamp()
	}
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

package rules

import "slices"

// queryCache holds the answers to queries of one kind. Each query is loaded
// once.
type queryCache[Q comparable, A any] struct {
	of      *QueryKind[Q, A]
	answers map[Q]queryAnswer[A]
	wanted  []Q // to be loaded
}

type queryAnswer[A any] struct {
	is    A
	known bool
}

func (c *queryCache[Q, A]) get(query Q) A {
	a := c.answers[query]
	if !a.known {
		c.want(query)
		panic(missed{})
	}
	return a.is
}

func (c *queryCache[Q, A]) want(query Q) {
	if _, asked := c.answers[query]; !asked {
		c.hold(query, queryAnswer[A]{})
		c.wanted = append(c.wanted, query)
	}
}

func (c *queryCache[Q, A]) peek(query Q) (answer A, known bool) {
	a := c.answers[query]
	return a.is, a.known
}

// put sets an answer, or the next part of it, while the query is loaded.
func (c *queryCache[Q, A]) put(query Q, answer A) {
	c.hold(query, queryAnswer[A]{is: answer, known: c.answers[query].known})
}

// settle makes an answer known as it is.
func (c *queryCache[Q, A]) settle(query Q) {
	c.hold(query, queryAnswer[A]{is: c.answers[query].is, known: true})
}

func (c *queryCache[Q, A]) set(u *UnitOfWork, query Q, answer A) {
	before, asked := c.answers[query]
	u.onUndo(func() {
		if asked {
			c.answers[query] = before
		} else {
			delete(c.answers, query)
		}
	})
	c.hold(query, queryAnswer[A]{is: answer, known: true})
}

func (c *queryCache[Q, A]) hold(query Q, answer queryAnswer[A]) {
	if c.answers == nil {
		c.answers = map[Q]queryAnswer[A]{}
	}
	c.answers[query] = answer
}

// misses returns the queries that are to be loaded.
func (c *queryCache[Q, A]) misses() []Q {
	c.wanted = slices.DeleteFunc(c.wanted, func(query Q) bool { return c.answers[query].known })
	return c.wanted
}

func (c *queryCache[Q, A]) missing() int { return len(c.misses()) }

func (c *queryCache[Q, A]) loaded() {
	for _, query := range c.wanted {
		c.settle(query)
	}
	c.wanted = nil
}

func (c *queryCache[Q, A]) forgetMissing() {
	for _, query := range c.misses() {
		delete(c.answers, query)
	}
	c.wanted = nil
}

func (c *queryCache[Q, A]) addLocks(l *Locks) {
	if c.of.lock != nil {
		for query := range c.answers {
			l.Names = append(l.Names, c.of.lock(query))
		}
	}
}

func (c *queryCache[Q, A]) readsByPredicate() bool { return c.of.predicate && len(c.answers) > 0 }

func (c *queryCache[Q, A]) addChangedLocks(*Locks) {}
func (c *queryCache[Q, A]) addChanges(*Changes)    {}

package rules

import "github.com/rotajobs/rota"

// expiredRequestsMax is how many expired keys are removed with each new one. It
// is more than one, so that expired keys do not accumulate even if nothing
// prunes them.
const expiredRequestsMax = 2

func requestKey(c *rota.Remember) RequestKey { return RequestKey{Actor: c.Actor, Key: c.Key} }

// decideRemember stores a key for a command, or returns the command the key
// stands for.
func decideRemember(u *UnitOfWork, c *rota.Remember) (rota.Reply, *rota.Error) {
	key := requestKey(c)
	ExpiredRequests.want(u, expiredRequestsQuery(u, expiredRequestsMax))
	switch held := Requests.get(u, key); {
	case held == nil || !held.At.Add(rota.RequestKeep).After(u.Now):
	case held.Hash != c.Hash:
		return nil, &rota.Error{
			Code: rota.Conflict, Field: "key", Reason: "the key was used for another request, at " + Stamp(held.At),
			Hint: "use a new key for each request, and the same one only to send it again unchanged",
		}
	default:
		return &rota.Remembered{Command: held.Command, Known: held.Command != c.Command}, nil
	}
	removeExpiredRequests(u, expiredRequestsMax)
	Requests.set(u, key, &Request{Key: key, Hash: c.Hash, Command: c.Command, At: u.Now})
	return &rota.Remembered{Command: c.Command}, nil
}

// removeExpiredRequests removes expired keys.
func removeExpiredRequests(u *UnitOfWork, limit int) {
	for _, key := range ExpiredRequests.get(u, expiredRequestsQuery(u, limit)) {
		Requests.set(u, key, nil)
	}
}

func expiredRequestsQuery(u *UnitOfWork, limit int) ExpiredRequestsQuery {
	return ExpiredRequestsQuery{By: u.Now.Add(-rota.RequestKeep).UnixMicro(), Limit: limit}
}

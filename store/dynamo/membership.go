package dynamo

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

var _ rota.Membership = (*Store)(nil)

// The nodes and their leader are items of one partition, so that one query reads them.
const (
	membersPK = "rota#node#members"
	leaderSK  = "leader" // the sort key of a node is its incarnation, which begins with a digit or a letter up to f
)

// The attributes of a node and of the leader, besides attrUntil. The skew is part of that: the clock of another
// process may be ahead by so much.
const (
	attrName        = "name"
	attrIncarnation = "incarnation"
	attrSince       = "since"
	attrWorkers     = "workers"
)

func memberKey(incarnation rota.ID) item { return key(membersPK, incarnation.String()) }
func leadNodeKey() item                  { return key(membersPK, leaderSK) }

// members are the items of the partition: live nodes, nodes whose leases have ended, and the leader, or nil.
type members struct {
	live, ended []item
	leader      item
}

func (l *commandLog) readMembers(ctx context.Context, now time.Time) (m members, err error) {
	all, err := l.table.queryAll(ctx, "list nodes", membersPK)
	for _, i := range all {
		switch {
		case i.text(attrSK) == leaderSK:
			m.leader = i
		case i.number(attrUntil) < now.UnixMicro():
			m.ended = append(m.ended, i)
		default:
			m.live = append(m.live, i)
		}
	}
	return m, err
}

// Heartbeat records that a node is alive, and returns the leader.
func (s *Store) Heartbeat(ctx context.Context, a rota.NodeHeartbeat) (at rota.MembershipState, err error) {
	l := s.log
	now, err := l.Now(ctx)
	if err != nil {
		return at, err
	}
	until := now.Add(a.Lease + l.options.Skew)
	if err := l.table.put(ctx, "node heartbeat", memberItem(a, now, until)); err != nil {
		return at, err
	}
	m, err := l.readMembers(ctx, now)
	if err != nil {
		return at, err
	}
	if m.leader, err = l.keepLead(ctx, a, m.leader, now, until); err != nil {
		return at, err
	}
	if at.Left, err = l.removeEnded(ctx, m); err != nil {
		return at, err
	}
	at.Leader = m.leader.text(attrName)
	at.Leads = m.leader.text(attrIncarnation) == a.Incarnation.String()
	at.Nodes, at.OthersSince = len(m.live), othersSince(m.live, a.Node)
	return at, nil
}

func memberItem(a rota.NodeHeartbeat, now, until time.Time) item {
	i := memberKey(a.Incarnation)
	since := a.Since
	if since.IsZero() {
		since = now
	}
	i[attrName], i[attrSince], i[attrUntil] = stringValue(a.Node), numberValue(since.UnixMicro()), numberValue(until.UnixMicro())
	i[attrWorkers] = numberValue(int64(a.Workers))
	if a.Version != "" {
		i[attrVersion] = stringValue(a.Version)
	}
	return i
}

// keepLead extends the lease of this node if it leads, or takes the lead if the lease of the leader has ended. It returns
// the leader.
func (l *commandLog) keepLead(ctx context.Context, a rota.NodeHeartbeat, leader item, now, until time.Time) (item, error) {
	self := a.Incarnation.String()
	if leader != nil && leader.text(attrIncarnation) != self && leader.number(attrUntil) >= now.UnixMicro() {
		return leader, nil
	}
	leads, err := l.table.update(ctx, "lead nodes", leadNodeKey(), "SET #name = :name, #incarnation = :self, #until = :until",
		"attribute_not_exists(#incarnation) OR #incarnation = :self OR #until < :now",
		map[string]string{"#name": attrName, "#incarnation": attrIncarnation, "#until": attrUntil},
		item{
			":name": stringValue(a.Node), ":self": stringValue(self),
			":now": numberValue(now.UnixMicro()), ":until": numberValue(until.UnixMicro()),
		})
	if err != nil || !leads {
		if err == nil { // another node was first
			leader, err = l.table.get(ctx, "read leader of nodes", leadNodeKey())
		}
		return leader, err
	}
	return item{attrName: stringValue(a.Node), attrIncarnation: stringValue(self)}, nil
}

// removeEnded removes the nodes whose leases have ended, and returns the names of those that this process has
// removed and that have not been restarted.
func (l *commandLog) removeEnded(ctx context.Context, m members) (left []string, err error) {
	for _, i := range m.ended {
		removed, err := l.table.remove(ctx, "remove node", i.key(), "#until = :until", map[string]string{"#until": attrUntil}, item{":until": i[attrUntil]})
		if err != nil {
			return left, err
		}
		name := i.text(attrName)
		restarted := slices.ContainsFunc(m.live, func(n item) bool { return n.text(attrName) == name })
		if removed && !restarted && !slices.Contains(left, name) {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	return left, nil
}

// othersSince returns since when the oldest node of another name has run.
func othersSince(live []item, name string) (oldest time.Time) {
	for _, i := range live {
		since := time.UnixMicro(i.number(attrSince)).UTC()
		if i.text(attrName) != name && (oldest.IsZero() || since.Before(oldest)) {
			oldest = since
		}
	}
	return oldest
}

// Members lists the live nodes. A node that was restarted has two items until the lease of the first one ends.
func (s *Store) Members(ctx context.Context) (all []rota.Member, err error) {
	now, err := s.log.Now(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.log.readMembers(ctx, now)
	if err != nil {
		return nil, err
	}
	leader := ""
	if m.leader.number(attrUntil) >= now.UnixMicro() {
		leader = m.leader.text(attrIncarnation)
	}
	slices.SortFunc(m.live, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.text(attrName), b.text(attrName)), cmp.Compare(b.number(attrUntil), a.number(attrUntil)), cmp.Compare(b.text(attrSK), a.text(attrSK)))
	})
	for _, i := range m.live {
		if n := len(all); n > 0 && all[n-1].Name == i.text(attrName) {
			continue
		}
		all = append(all, rota.Member{
			Name: i.text(attrName), Leads: i.text(attrSK) == leader, Since: time.UnixMicro(i.number(attrSince)).UTC(),
			Version: i.text(attrVersion), Workers: int(i.number(attrWorkers)),
		})
	}
	return all, nil
}

// Leave removes a node from the membership.
func (s *Store) Leave(ctx context.Context, _ string, incarnation rota.ID) error {
	if _, err := s.log.table.remove(ctx, "leave", memberKey(incarnation), "", nil, nil); err != nil {
		return err
	}
	_, err := s.log.table.remove(ctx, "resign", leadNodeKey(), "#incarnation = :self",
		map[string]string{"#incarnation": attrIncarnation}, item{":self": stringValue(incarnation.String())})
	return err
}

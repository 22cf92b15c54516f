package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// peerKey is the key of a connection's peer in the context of its requests.
type peerKey struct{}

// A peer is the user on the other end of a connection.
type peer struct {
	account.User
	err error // not nil: the user is not known
}

// withPeer adds the peer of a new connection to its context.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	u, err := account.Of(c)
	return context.WithValue(ctx, peerKey{}, peer{u, err})
}

// peerOf returns the peer that sent a request.
func peerOf(ctx context.Context) peer {
	p, ok := ctx.Value(peerKey{}).(peer)
	if !ok {
		p.err = errors.New("not known")
	}
	return p
}

// nobody is no group.
const nobody = -1

// allowed returns an error unless p is owner or root, or in a group; nobody: in none. Without a group a job runs as
// the owner, so that the right to submit one is the right to do everything that the owner may.
func allowed(p peer, owner, group int) error {
	switch {
	case p.err != nil:
		return fmt.Errorf("user: %w, want the owner (uid %d) or root", p.err, owner)
	case p.UID == owner || p.UID == 0 || group != nobody && p.In(group):
		return nil
	case group != nobody:
		return fmt.Errorf("uid %d: not in the group of this scheduler's users (gid %d)", p.UID, group)
	}
	return fmt.Errorf("uid %d: not the owner of this scheduler (uid %d), nor root", p.UID, owner)
}

// rules reports whether p may do everything: as the owner of the scheduler, or root.
func (s *Server) rules(p peer) bool { return p.UID == s.owner || p.UID == 0 }

// own returns an error of status 403 unless the peer may have a say in a job: it is his, or he is the owner or root.
func (s *Server) own(ctx context.Context, id job.ID) error {
	v, err := s.service.Job(id)
	if p := peerOf(ctx); err == nil && !s.rules(p) && p.UID != v.Owner {
		return forbidden("job %s: is user %s's, who alone may do that, and root", id, v.User)
	}
	return err
}

// ruler returns an error of status 403 unless the peer is the owner of the scheduler, or root.
func (s *Server) ruler(ctx context.Context) error {
	if !s.rules(peerOf(ctx)) {
		return forbidden("only %s and root may do that", account.Name(s.owner))
	}
	return nil
}

func forbidden(format string, args ...any) *Error {
	return &Error{Status: http.StatusForbidden, Message: fmt.Sprintf(format, args...)}
}

// hide removes from the view of another user's job what only its user may know: what it runs, and the last lines of its
// output, which its end may have.
func (s *Server) hide(ctx context.Context, v *status.Job) {
	if p := peerOf(ctx); !s.rules(p) && p.UID != v.Owner {
		v.Command, v.Detail = nil, ""
	}
}

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

type peerKey struct{}

type peer struct {
	account.User
	err error // set if the user could not be identified
}

func withPeer(ctx context.Context, c net.Conn) context.Context {
	u, err := account.Of(c)
	return context.WithValue(ctx, peerKey{}, peer{u, err})
}

func peerOf(ctx context.Context) peer {
	p, ok := ctx.Value(peerKey{}).(peer)
	if !ok {
		p.err = errors.New("not known")
	}
	return p
}

const noGroup = -1

// allowed admits the owner, root and the group. Without a group all jobs run as the owner, so submitting a job
// means having all rights of the owner.
func allowed(p peer, owner, group int) error {
	switch {
	case p.err != nil:
		return fmt.Errorf("user: %w, want the owner (uid %d) or root", p.err, owner)
	case p.UID == owner || p.UID == 0 || group != noGroup && p.In(group):
		return nil
	case group != noGroup:
		return fmt.Errorf("uid %d: not in the group of this scheduler's users (gid %d)", p.UID, group)
	}
	return fmt.Errorf("uid %d: not the owner of this scheduler (uid %d), nor root", p.UID, owner)
}

func (s *Server) rules(p peer) bool { return p.UID == s.owner || p.UID == 0 }

func (s *Server) own(ctx context.Context, id job.ID) error {
	v, err := s.service.Job(id)
	if p := peerOf(ctx); err == nil && !s.rules(p) && p.UID != v.Owner {
		return forbidden("job %s belongs to user %s; only that user and root may do this", id, v.User)
	}
	return err
}

func (s *Server) ruler(ctx context.Context) error {
	if !s.rules(peerOf(ctx)) {
		return forbidden("only %s and root may do this", account.Name(s.owner))
	}
	return nil
}

func forbidden(format string, args ...any) *Error {
	return &Error{Status: http.StatusForbidden, Message: fmt.Sprintf(format, args...)}
}

func (s *Server) hide(ctx context.Context, v *status.Job) {
	if p := peerOf(ctx); !s.rules(p) && p.UID != v.Owner {
		v.Command, v.Detail = nil, ""
	}
}

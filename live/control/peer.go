package control

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// peerKey is the key of a connection's peer in the context of its requests.
type peerKey struct{}

// A peer is the user on the other end of a connection.
type peer struct {
	uid int
	err error // not nil: the user is not known
}

// withPeer adds the peer of a new connection to its context.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	uid, err := peerUID(c)
	return context.WithValue(ctx, peerKey{}, peer{uid, err})
}

// peerOf returns the peer that sent a request.
func peerOf(ctx context.Context) peer {
	p, ok := ctx.Value(peerKey{}).(peer)
	if !ok {
		p.err = errors.New("not known")
	}
	return p
}

// allowed returns an error unless p is owner or root. A job runs as the owner, so that the right to
// submit one is the right to do everything that the owner may.
func allowed(p peer, owner int) error {
	switch {
	case p.err != nil:
		return fmt.Errorf("user: %w, want the owner (uid %d) or root", p.err, owner)
	case p.uid != owner && p.uid != 0:
		return fmt.Errorf("uid %d: not the owner of this scheduler (uid %d), nor root", p.uid, owner)
	}
	return nil
}

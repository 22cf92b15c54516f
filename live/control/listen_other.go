//go:build !linux

package control

import (
	"errors"
	"net"
)

// An Access defines who may connect to a socket.
type Access struct{}

// Private allows the owner and root.
func Private() Access { return Access{} }

// OfGroup also allows members of a group.
func OfGroup(int) Access { return Access{} }

// Public allows everybody.
func Public() Access { return Access{} }

// Listen returns an error: only Linux identifies the peer.
func Listen(string, Access) (net.Listener, error) {
	return nil, errors.New("control socket: works on Linux only")
}

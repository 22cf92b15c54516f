//go:build !linux

package control

import (
	"errors"
	"net"
)

// An Access states who may connect to a socket.
type Access struct{}

// Private allows the owner and root.
func Private() Access { return Access{} }

// OfGroup allows the owner, root, and members of the group.
func OfGroup(int) Access { return Access{} }

// Public allows everybody.
func Public() Access { return Access{} }

// Listen fails: sockets identify users on Linux only.
func Listen(string, Access) (net.Listener, error) {
	return nil, errors.New("control socket: works on Linux only")
}

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// The network of nodes and pods.
const (
	// Gateway is the machine's address, reachable from all pods.
	Gateway = "10.244.0.1"

	bridge     = "oxgang0"
	apiAddress = "10.96.0.1" // of service kubernetes.default
)

func startNetwork() error {
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"link", "add", bridge, "type", "bridge"},
		{"addr", "add", Gateway + "/16", "dev", bridge},
		{"addr", "add", apiAddress + "/32", "dev", bridge},
		{"link", "set", bridge, "up"},
		{"route", "add", "default", "dev", bridge}, // the API server looks up its own address there
	} {
		if _, err := run(context.Background(), "/", "ip", args...); err != nil {
			return fmt.Errorf("start the network: %w", err)
		}
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return fmt.Errorf("start the network: %w", err)
	}
	return nil
}

type forwarder struct {
	listener net.Listener
	group    sync.WaitGroup
}

func forward(address, target string) (*forwarder, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("forward %s: %w", address, err)
	}
	f := &forwarder{listener: l}
	f.group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed
			}
			go pass(c, target) // ends when either side does
		}
	})
	return f, nil
}

func (f *forwarder) Close() error {
	err := f.listener.Close()
	f.group.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func pass(c net.Conn, target string) {
	defer c.Close()
	to, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer to.Close()
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{c, to}, {to, c}} {
		go func() {
			_, _ = io.Copy(way[0], way[1]) // closed
			done <- struct{}{}
		}()
	}
	<-done
}

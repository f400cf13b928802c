# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What the widgets of running programs say, asked over the accessibility bus (AT-SPI 2).

    bus = Bus()
    application = bus.application("kcachegrind")        # a Node, or None as long as there is none
    for node, role, name in bus.widgets(application): ...
    bus.names(bus.children(node))

Every answer comes from the program at the time of asking. A library that keeps copies (libatspi)
keeps them for ever when the message about a change arrives at a bad moment, which happens on a busy
machine: an application whose children are asked for before it can answer has none from then on.
Make the Bus before the program: its launcher writes the address on the display, where Qt 5 finds it
at once; without that, Qt may register before it is connected, which is lost. And keep the display
from forgetting it: Xvfb without -noreset does when its last client has left.

Questions about many nodes are sent together, and then their answers awaited. A node that has gone
away in the meantime answers None.
"""

import collections

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

PATIENCE_MS = 75000                         # for one answer, of a program that may be computing
ACCESSIBLE = "org.a11y.atspi.Accessible"
OPAQUE = ("tree", "menu bar")               # widgets() does not look into these
SHOWING = 1 << 25                           # bit of a state

Node = collections.namedtuple("Node", "bus_name path")
ROOT = Node("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
NOWHERE = "/org/a11y/atspi/null"


class Bus:
    def __init__(self):
        session = Gio.bus_get_sync(Gio.BusType.SESSION)
        address, = session.call_sync(
            "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None,
            Gio.DBusCallFlags.NONE, PATIENCE_MS).unpack()
        self.connection = Gio.DBusConnection.new_for_address_sync(
            address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
            | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION)
        self.children(ROOT)                 # the registry, too, is running when it has answered

    def ask(self, nodes, method, arguments=None, interface=ACCESSIBLE):
        """The answers of all nodes to one question, in their order, each a tuple or None."""
        nodes = list(nodes)
        answers = [None] * len(nodes)
        left = len(nodes)

        def answered(connection, result, place):
            nonlocal left
            left -= 1
            try:
                answers[place] = connection.call_finish(result).unpack()
            except GLib.Error:
                pass
        for place, node in enumerate(nodes):
            self.connection.call(node.bus_name, node.path, interface, method, arguments, None,
                                 Gio.DBusCallFlags.NONE, PATIENCE_MS, None, answered, place)
        while left:
            GLib.MainContext.default().iteration(True)
        return answers

    def children_of(self, nodes):
        """For each node the list of its children."""
        return [[Node(*child) for child in (answer or ([],))[0] if child[1] != NOWHERE]
                for answer in self.ask(nodes, "GetChildren")]

    def children(self, node):
        return self.children_of([node])[0]

    def roles(self, nodes):
        """In Qt's words: "column header", "page tab"."""
        return [answer and answer[0] for answer in self.ask(nodes, "GetRoleName")]

    def names(self, nodes):
        return [answer and answer[0] for answer in
                self.ask(nodes, "Get", GLib.Variant("(ss)", (ACCESSIBLE, "Name")),
                         interface="org.freedesktop.DBus.Properties")]

    def application(self, name):
        running = self.children(ROOT)
        return next((node for node, named in zip(running, self.names(running)) if named == name),
                    None)

    def widgets(self, top):
        """All that lies below, level by level, as (node, role, name)."""
        level = [top]
        while level:
            level = [child for family in self.children_of(level) for child in family]
            roles = self.roles(level)
            yield from zip(level, roles, self.names(level))
            level = [node for node, role in zip(level, roles) if role not in OPAQUE]

    def is_showing(self, node):
        """Whether it is drawn, so that a person would see it."""
        answer = self.ask([node], "GetState")[0]
        return bool(answer and answer[0][0] & SHOWING)

    def place(self, node):
        """x, y, width and height on the screen."""
        return self.ask([node], "GetExtents", GLib.Variant("(u)", (0,)),
                        interface="org.a11y.atspi.Component")[0][0]

    def set_text(self, node, text):
        self.ask([node], "SetTextContents", GLib.Variant("(s)", (text,)),
                 interface="org.a11y.atspi.EditableText")

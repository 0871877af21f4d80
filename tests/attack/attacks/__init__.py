"""Every attack, by its name, in the order in which they run."""

from tests.attack.attacks import access, bodies, connections, organisations, pages, protocol
from tests.attack.measure import Attack

ATTACKS: dict[str, Attack] = {
    attack.name: attack
    for module in (connections, protocol, bodies, pages, access, organisations)
    for attack in module.attacks.all
}
